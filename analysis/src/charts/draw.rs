//! Draws charts as SVG and PNG.

use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::bar::BarPlot;
use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_multiple};
use kuva::render::theme::Theme as KuvaTheme;
use std::sync::Arc;

use super::axis;
use super::chart::{Axis, Chart, ChartError, Marks, ParallelLine, Reference, Scale, Series, SeriesStyle};
use super::curves::{curves, diagonal};
use super::parallel;
use super::table::{percent, short};
use super::theme::{Ink, TEXT_SIZE, Theme, text_width};

/// PNG pixels per unit of the chart's size, for high-resolution screens.
const PNG_SCALE: f32 = 2.0;
/// The rotation in degrees of category labels that do not fit side by side.
const LABEL_ROTATION: f64 = -35.0;
/// The width that the vertical axis takes.
const Y_AXIS_WIDTH: f64 = 90.0;

/// The share of the range above the line of a level that its label takes. Chosen.
const LABEL_ROOM: f64 = 0.1;

impl Chart {
    /// The chart as an SVG. In a page the legend is HTML beside it; otherwise it is part of the picture.
    pub fn svg(&self, theme: Theme, width: f64, height: f64) -> String {
        SvgBackend::new().render_scene(&self.scene(theme, width, height))
    }

    /// The chart as a PNG on white.
    pub fn png(&self, width: f64, height: f64) -> Result<Vec<u8>, ChartError> {
        let scene = self.scene(Theme::Light, width, height);
        let drawn = RasterBackend::new().with_scale(PNG_SCALE).render_scene(&scene);
        drawn.map_err(|cause| ChartError { name: self.name.clone(), cause })
    }

    fn scene(&self, theme: Theme, width: f64, height: f64) -> Scene {
        let plots = self.plots(theme);
        let layout = self.layout(&plots, theme, (width, height));
        let computed = ComputedLayout::from_layout(&layout);
        let mut scene = render_multiple(plots, layout);
        scene.elements.extend(self.labels(&computed, theme));
        scene.elements.extend(self.level_labels(&computed));
        // The axes hold all values; a clip would cut the markers at their ends in half.
        scene.defs.clear();
        scene.elements.retain(|element| !matches!(element, Primitive::ClipStart { .. } | Primitive::ClipEnd));
        scene
    }

    fn layout(&self, plots: &[Plot], theme: Theme, (width, height): (f64, f64)) -> Layout {
        let layout = Layout::auto_from_plots(plots)
            .with_width(width)
            .with_height(height)
            .with_theme(kuva_theme(theme));
        let layout = layout.with_tick_size(TEXT_SIZE).with_label_size(TEXT_SIZE).with_body_size(TEXT_SIZE);
        let layout = self.with_references(self.with_axes(layout, width, theme), theme);
        self.with_legend(layout, theme)
    }

    /// Where a picture of a page has its values.
    pub(super) fn computed_layout(&self, width: f64, height: f64) -> ComputedLayout {
        let plots = self.plots(Theme::Page);
        ComputedLayout::from_layout(&self.layout(&plots, Theme::Page, (width, height)))
    }

    /// The axis labels that kuva does not draw.
    fn labels(&self, layout: &ComputedLayout, theme: Theme) -> Vec<Primitive> {
        match &self.marks {
            Marks::Parallel { axes, lines } => parallel::labels(axes, lines, layout, theme),
            Marks::Series(_) if self.x.scale != Scale::Categories => {
                self.x.labels.iter().map(|(x, label)| below_axis(layout, *x, label)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn plots(&self, theme: Theme) -> Vec<Plot> {
        let mut plots: Vec<Plot> = match &self.marks {
            Marks::Series(series) => curves(series, theme, &self.x),
            Marks::Stacks { .. } | Marks::Bars(_) => vec![self.bars(theme).into()],
            Marks::Parallel { axes, lines } => parallel::plots(axes, lines, theme),
        };
        if self.references.iter().any(|reference| matches!(reference, Reference::Diagonal(_))) {
            plots.insert(0, diagonal(&self.x, theme));
        }
        plots
    }

    fn bars(&self, theme: Theme) -> BarPlot {
        match &self.marks {
            Marks::Stacks { categories, parts } => {
                let stack = |plot: BarPlot, (index, category): (usize, &String)| {
                    let values = parts.iter().map(|part| (part.values[index], part.ink.colour(theme)));
                    plot.with_group(category.clone(), values.collect::<Vec<_>>())
                };
                let plot = categories.iter().enumerate();
                let plot = plot.fold(BarPlot::new().with_stacked().with_width(0.86), stack);
                let labels = categories.iter().enumerate().flat_map(|(index, category)| {
                    parts.iter().map(move |part| {
                        format!("{category}: {} {}", part.name, self.value(part.values[index]))
                    })
                });
                plot.with_tooltips().with_tooltip_labels(labels)
            }
            Marks::Bars(bars) => {
                let bar = |plot: BarPlot, (name, value): &(String, f64)| {
                    plot.with_colored_bar(name.clone(), *value, Ink::Series(0).colour(theme))
                };
                let plot = bars.iter().rev().fold(BarPlot::new().with_horizontal(true).with_width(0.7), bar);
                let labels = bars.iter().rev().map(|(name, value)| format!("{name}: {}", self.value(*value)));
                plot.with_tooltips().with_tooltip_labels(labels)
            }
            Marks::Series(_) | Marks::Parallel { .. } => BarPlot::new(),
        }
    }

    fn with_axes(&self, layout: Layout, width: f64, theme: Theme) -> Layout {
        let ticks = if width < 400.0 { 4 } else { 6 };
        let layout = layout.with_ticks(ticks).with_x_label_overlap(AxisLabelOverlap::Thin);
        match &self.marks {
            Marks::Parallel { axes, .. } => parallel::layout(layout, axes, width, theme),
            Marks::Stacks { .. } => self.with_y_bounds(with_titles(layout, &self.x, &self.y)),
            Marks::Bars(_) => with_titles(layout, &self.y, &self.x).with_x_axis_min(0.0),
            Marks::Series(_) => {
                let layout = self.with_ranges(with_titles(layout, &self.x, &self.y), ticks);
                self.with_x_labels(layout, width)
            }
        }
    }

    fn with_y_bounds(&self, layout: Layout) -> Layout {
        let layout = self.y.from.into_iter().fold(layout, Layout::with_y_axis_min);
        self.y.to.into_iter().fold(layout, Layout::with_y_axis_max)
    }

    fn with_ranges(&self, layout: Layout, ticks: usize) -> Layout {
        let levels = || self.level_lines().map(|(level, _)| level);
        let mut ys: Vec<f64> =
            axis::values(&self.marks, axis::y_values).into_iter().chain(levels()).collect();
        if self.y.to.is_none() && self.y.scale != Scale::Logarithm {
            // A label stands above its line.
            let [least, most] =
                [f64::min, f64::max].map(|end| ys.iter().copied().reduce(end).unwrap_or_default());
            ys.extend(levels().map(|level| level + LABEL_ROOM * (most - least)));
        }
        let x = self.x.range(&axis::values(&self.marks, axis::x_values), ticks);
        let y = self.y.range(&ys, ticks);
        let layout = x.into_iter().fold(layout, |layout, x| {
            x.step
                .into_iter()
                .fold(layout.with_x_axis_min(x.from).with_x_axis_max(x.to), Layout::with_x_tick_step)
        });
        let layout = y.into_iter().fold(layout, |layout, y| {
            y.step
                .into_iter()
                .fold(layout.with_y_axis_min(y.from).with_y_axis_max(y.to), Layout::with_y_tick_step)
        });
        let layout = if self.x.scale == Scale::Logarithm { layout.with_log_x() } else { layout };
        if self.y.scale == Scale::Logarithm { layout.with_log_y() } else { layout }
    }

    /// With the labels of the horizontal axis: categories, or labels beyond the numbers, whose ticks end before them.
    fn with_x_labels(&self, layout: Layout, width: f64) -> Layout {
        let labels = &self.x.labels;
        if labels.is_empty() {
            return layout;
        }
        if self.x.scale != Scale::Categories {
            let numbers = axis::values(&self.marks, axis::x_values)
                .into_iter()
                .filter(|x| self.x.label_at(*x).is_none());
            let largest = numbers.fold(f64::NEG_INFINITY, f64::max);
            let number = move |x: f64| if x > largest { String::new() } else { short(x) };
            return layout.with_x_tick_format(TickFormat::Custom(Arc::new(number)));
        }
        let longest = labels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let layout = layout.with_x_categories(labels.iter().map(|(_, label)| label.clone()).collect());
        let layout = layout.with_x_axis_min(0.5).with_x_axis_max(labels.len() as f64 + 0.5);
        if text_width(longest + 1) * labels.len() as f64 > width - Y_AXIS_WIDTH {
            layout.with_x_tick_rotate(LABEL_ROTATION).with_x_label_overlap(AxisLabelOverlap::Allow)
        } else {
            layout
        }
    }

    fn with_references(&self, layout: Layout, theme: Theme) -> Layout {
        let line = |level| ReferenceLine::horizontal(level).with_color(Ink::Muted.colour(theme));
        self.level_lines().fold(layout, |layout, (level, _)| layout.with_reference_line(line(level)))
    }

    /// With a legend, unless the page has it.
    fn with_legend(&self, layout: Layout, theme: Theme) -> Layout {
        let entries = self.legend(theme);
        if theme == Theme::Page || entries.len() < 2 {
            let mut layout = layout;
            layout.show_legend = false;
            return layout;
        }
        let layout = layout.with_legend_position(LegendPosition::OutsideBottomColumns).with_legend_box(false);
        layout.with_legend_entries(entries)
    }

    fn legend(&self, theme: Theme) -> Vec<LegendEntry> {
        let entry = |name: &str, ink: Ink, shape: LegendShape| LegendEntry {
            label: name.to_owned(),
            color: ink.colour(theme),
            shape,
            dasharray: Some(ink.dashes().to_owned()).filter(|dashes| !dashes.is_empty()),
        };
        match &self.marks {
            Marks::Series(series) => {
                let shape = |series: &Series| match series.style {
                    SeriesStyle::Markers => LegendShape::Marker(series.ink.marker()),
                    SeriesStyle::Line | SeriesStyle::MarkedLine => LegendShape::Line,
                };
                series.iter().map(|series| entry(&series.name, series.ink, shape(series))).collect()
            }
            Marks::Stacks { parts, .. } => {
                parts.iter().map(|part| entry(&part.name, part.ink, LegendShape::Rect)).collect()
            }
            Marks::Parallel { .. } => [false, true]
                .map(|best| entry(ParallelLine::name_of(best), ParallelLine::ink_of(best), LegendShape::Line))
                .to_vec(),
            Marks::Bars(_) => Vec::new(),
        }
    }
}

/// A label below the horizontal axis, in line with the tick numbers.
fn below_axis(layout: &ComputedLayout, x: f64, label: &str) -> Primitive {
    Primitive::Text {
        x: layout.map_x(x),
        y: layout.height - layout.margin_bottom + layout.tick_mark_major + f64::from(TEXT_SIZE),
        content: label.to_owned(),
        size: TEXT_SIZE,
        anchor: TextAnchor::Middle,
        rotate: None,
        bold: false,
        color: None,
    }
}

/// With the titles and number formats of both axes.
fn with_titles(layout: Layout, x: &Axis, y: &Axis) -> Layout {
    let layout = layout.with_x_label(&x.label).with_y_label(y.upright_label());
    layout.with_x_tick_format(tick_format(x)).with_y_tick_format(tick_format(y))
}

fn tick_format(axis: &Axis) -> TickFormat {
    match axis.scale {
        Scale::Plain | Scale::Integer | Scale::Logarithm | Scale::Categories => {
            TickFormat::Custom(Arc::new(short))
        }
        Scale::Share => TickFormat::Custom(Arc::new(|share| percent(share, 0))),
    }
}

fn kuva_theme(theme: Theme) -> KuvaTheme {
    let colour = |ink: Ink| ink.colour(theme);
    KuvaTheme {
        background: if theme == Theme::Page { "none".to_owned() } else { colour(Ink::Background) },
        axis_color: colour(Ink::Muted),
        grid_color: colour(Ink::Grid),
        tick_color: colour(Ink::Muted),
        text_color: colour(Ink::Text),
        legend_bg: "none".to_owned(),
        legend_border: "none".to_owned(),
        pie_leader: colour(Ink::Muted),
        box_median: colour(Ink::Background),
        violin_border: colour(Ink::Muted),
        colorbar_border: colour(Ink::Muted),
        font_family: Some("system-ui, DejaVu Sans, sans-serif".to_owned()),
        show_grid: true,
    }
}
