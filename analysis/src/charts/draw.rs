//! Charts as pictures.

use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::bar::BarPlot;
use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_multiple};
use kuva::render::theme::Theme;
use std::sync::Arc;

use super::axis;
use super::chart::{Axis, Chart, ChartError, Marks, ParallelLine, Reference, Scale};
use super::curves::{curves, diagonal};
use super::look::{Ink, Look, TEXT_SIZE, letters};
use super::parallel;
use super::table::short;

/// Pixels of a picture for each unit of its size: sharp on a screen of today.
const PNG_SCALE: f32 = 2.0;
/// How words under an axis are turned where they have no room beside each other, in degrees.
const TURNED: f64 = -35.0;
/// Room beside the axes that a picture needs for the upright one.
const BESIDE: f64 = 90.0;

impl Chart {
    /// The chart as an SVG of a size. In a page the legend is the page's; alone, the picture has it.
    pub fn svg(&self, look: Look, width: f64, height: f64) -> String {
        let svg = SvgBackend::new().render_scene(&self.scene(look, width, height));
        // Several pictures in a page must not use each other's clips.
        svg.replace("kuva-clip-", &format!("{}-{width:.0}-clip-", self.name))
    }

    /// The chart as a PNG on white.
    pub fn png(&self, width: f64, height: f64) -> Result<Vec<u8>, ChartError> {
        let scene = self.scene(Look::Light, width, height);
        let drawn = RasterBackend::new().with_scale(PNG_SCALE).render_scene(&scene);
        drawn.map_err(|cause| ChartError { name: self.name.clone(), cause })
    }

    fn scene(&self, look: Look, width: f64, height: f64) -> Scene {
        let plots = self.plots(look);
        let layout =
            Layout::auto_from_plots(&plots).with_width(width).with_height(height).with_theme(theme(look));
        let layout = layout.with_tick_size(TEXT_SIZE).with_label_size(TEXT_SIZE).with_body_size(TEXT_SIZE);
        let layout = self.explained(self.referenced(self.scaled(layout, width, look), look), look);
        let place = ComputedLayout::from_layout(&layout);
        let mut scene = render_multiple(plots, layout);
        scene.elements.extend(self.words(&place, look));
        scene
    }

    /// What kuva does not write at the axes.
    fn words(&self, place: &ComputedLayout, look: Look) -> Vec<Primitive> {
        match &self.marks {
            Marks::Parallel { axes, lines } => parallel::labels(axes, lines, place, look),
            Marks::Series(_) if self.x.scale != Scale::Words => {
                self.x.words.iter().map(|(at, word)| below(place, *at, word)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn plots(&self, look: Look) -> Vec<Plot> {
        let mut plots: Vec<Plot> = match &self.marks {
            Marks::Series(series) => curves(series, look, &self.x),
            Marks::Stacks { .. } | Marks::Bars(_) => vec![self.bars(look).into()],
            Marks::Parallel { axes, lines } => parallel::plots(axes, lines, look),
        };
        if self.references.iter().any(|reference| matches!(reference, Reference::Diagonal(_))) {
            plots.insert(0, diagonal(&self.x, look));
        }
        plots
    }

    fn bars(&self, look: Look) -> BarPlot {
        match &self.marks {
            Marks::Stacks { categories, parts } => {
                let stack = |plot: BarPlot, (at, category): (usize, &String)| {
                    let values = parts.iter().map(|part| (part.values[at], part.ink.colour(look)));
                    plot.with_group(category.clone(), values.collect::<Vec<_>>())
                };
                categories.iter().enumerate().fold(BarPlot::new().with_stacked().with_width(0.86), stack)
            }
            Marks::Bars(bars) => {
                let bar = |plot: BarPlot, (name, value): &(String, f64)| {
                    plot.with_colored_bar(name.clone(), *value, Ink::Series(0).colour(look))
                };
                bars.iter().rev().fold(BarPlot::new().with_horizontal(true).with_width(0.7), bar)
            }
            Marks::Series(_) | Marks::Parallel { .. } => BarPlot::new(),
        }
    }

    fn scaled(&self, layout: Layout, width: f64, look: Look) -> Layout {
        let ticks = if width < 400.0 { 4 } else { 6 };
        let layout = layout.with_ticks(ticks).with_x_label_overlap(AxisLabelOverlap::Thin);
        match &self.marks {
            Marks::Parallel { axes, .. } => parallel::layout(layout, axes, look),
            Marks::Stacks { .. } => self.upright(named(layout, &self.x, &self.y)),
            Marks::Bars(_) => named(layout, &self.y, &self.x).with_x_axis_min(0.0),
            Marks::Series(_) => self.worded(self.ranged(named(layout, &self.x, &self.y), ticks), width),
        }
    }

    /// With the vertical axis' own ends.
    fn upright(&self, layout: Layout) -> Layout {
        let layout = self.y.from.into_iter().fold(layout, Layout::with_y_axis_min);
        self.y.to.into_iter().fold(layout, Layout::with_y_axis_max)
    }

    fn ranged(&self, layout: Layout, ticks: usize) -> Layout {
        let levels = self.references.iter().filter_map(|reference| match reference {
            Reference::Level(level, _) => Some(*level),
            Reference::Diagonal(_) => None,
        });
        let heights: Vec<f64> = axis::values(&self.marks, axis::heights).into_iter().chain(levels).collect();
        let x = self.x.range(&axis::values(&self.marks, axis::places), ticks);
        let y = self.y.range(&heights, ticks);
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

    /// With the words of the horizontal axis: alone, or behind its numbers, which then end before them.
    fn worded(&self, layout: Layout, width: f64) -> Layout {
        let words = &self.x.words;
        if words.is_empty() {
            return layout;
        }
        if self.x.scale != Scale::Words {
            let most =
                axis::values(&self.marks, axis::places).into_iter().filter(|x| self.x.word(*x).is_none());
            let most = most.fold(f64::NEG_INFINITY, f64::max);
            let number = move |x: f64| if x > most { String::new() } else { short(x) };
            return layout.with_x_tick_format(TickFormat::Custom(Arc::new(number)));
        }
        let longest = words.iter().map(|(_, word)| word.chars().count()).max().unwrap_or(0);
        let layout = layout.with_x_categories(words.iter().map(|(_, word)| word.clone()).collect());
        let layout = layout.with_x_axis_min(0.5).with_x_axis_max(words.len() as f64 + 0.5);
        if letters(longest + 1) * words.len() as f64 > width - BESIDE {
            layout.with_x_tick_rotate(TURNED).with_x_label_overlap(AxisLabelOverlap::Allow)
        } else {
            layout
        }
    }

    fn referenced(&self, layout: Layout, look: Look) -> Layout {
        self.references.iter().fold(layout, |layout, reference| match reference {
            Reference::Level(value, label) => layout.with_reference_line(
                ReferenceLine::horizontal(*value)
                    .with_color(Ink::Muted.colour(look))
                    .with_label(label.clone()),
            ),
            Reference::Diagonal(_) => layout,
        })
    }

    /// With the legend, where nothing else has it.
    fn explained(&self, layout: Layout, look: Look) -> Layout {
        let entries = self.legend(look);
        if look == Look::Page || entries.len() < 2 {
            let mut layout = layout;
            layout.show_legend = false;
            return layout;
        }
        let layout = layout.with_legend_position(LegendPosition::OutsideBottomColumns).with_legend_box(false);
        layout.with_legend_entries(entries)
    }

    fn legend(&self, look: Look) -> Vec<LegendEntry> {
        let entry = |name: &str, ink: Ink, shape: LegendShape| LegendEntry {
            label: name.to_owned(),
            color: ink.colour(look),
            shape,
            dasharray: Some(ink.dashes().to_owned()).filter(|dashes| !dashes.is_empty()),
        };
        match &self.marks {
            Marks::Series(series) => {
                series.iter().map(|series| entry(&series.name, series.ink, LegendShape::Line)).collect()
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

/// A word below the horizontal axis, where a number would stand.
fn below(place: &ComputedLayout, at: f64, word: &str) -> Primitive {
    Primitive::Text {
        x: place.map_x(at),
        y: place.height - place.margin_bottom + place.tick_mark_major + f64::from(TEXT_SIZE),
        content: word.to_owned(),
        size: TEXT_SIZE,
        anchor: TextAnchor::Middle,
        rotate: None,
        bold: false,
        color: None,
    }
}

fn named(layout: Layout, x: &Axis, y: &Axis) -> Layout {
    let layout = layout.with_x_label(&x.label).with_y_label(&y.label);
    layout.with_x_tick_format(ticks(x)).with_y_tick_format(ticks(y))
}

fn ticks(axis: &Axis) -> TickFormat {
    match axis.scale {
        Scale::Whole | Scale::Plain | Scale::Logarithm | Scale::Words => TickFormat::Custom(Arc::new(short)),
        Scale::Share => TickFormat::Custom(Arc::new(|share| format!("{:.0} %", 100.0 * share))),
    }
}

fn theme(look: Look) -> Theme {
    let colour = |ink: Ink| ink.colour(look);
    Theme {
        background: if look == Look::Page { "none".to_owned() } else { colour(Ink::Paper) },
        axis_color: colour(Ink::Muted),
        grid_color: colour(Ink::Grid),
        tick_color: colour(Ink::Muted),
        text_color: colour(Ink::Text),
        legend_bg: "none".to_owned(),
        legend_border: "none".to_owned(),
        pie_leader: colour(Ink::Muted),
        box_median: colour(Ink::Paper),
        violin_border: colour(Ink::Muted),
        colorbar_border: colour(Ink::Muted),
        font_family: Some("system-ui, DejaVu Sans, sans-serif".to_owned()),
        show_grid: true,
    }
}
