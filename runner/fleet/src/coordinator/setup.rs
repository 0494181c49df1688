//! The streams of tasks and results, and the bucket of files. Only coordinators make them.

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::object_store::Config as BucketConfig;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use crate::error::BrokerError;
use crate::link::{Cause, Link};
use crate::names::{BUCKET, Channel, KEPT, RESULTS, Route, TASKS};
use crate::pacing::{ACK_WAIT, DELIVERIES};

/// Makes what is missing of streams and bucket.
pub(super) fn make_streams(link: &Link) -> Result<(), BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("make its streams", async move {
        for (name, subject) in [(TASKS, "dc0.task.>"), (RESULTS, "dc0.result.>")] {
            jetstream.get_or_create_stream(stream(name, subject)).await.map_err(Cause::of)?;
        }
        if jetstream.get_object_store(BUCKET).await.is_err() {
            let config = BucketConfig {
                bucket: BUCKET.to_owned(),
                description: Some("nets, jobs and large results of dc0".to_owned()),
                max_age: KEPT,
                storage: StorageType::File,
                ..Default::default()
            };
            jetstream.create_object_store(config).await.map_err(Cause::of)?;
        }
        Ok::<_, Cause>(())
    })
}

fn stream(name: &str, subject: &str) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        max_age: KEPT,
        ..Default::default()
    }
}

/// Makes the consumer that the workers of a route share.
pub(super) fn make_route(link: &Link, route: &Route) -> Result<(), BrokerError> {
    let jetstream = link.jetstream().clone();
    let config = pull::Config {
        durable_name: Some(route.consumer()),
        description: Some("tasks of dc0 for workers of one kind".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_deliver: i64::from(DELIVERIES),
        max_ack_pending: -1,
        filter_subject: route.tasks(),
        ..Default::default()
    };
    let name = route.consumer();
    link.wait("make a consumer of tasks", async move {
        let stream = jetstream.get_stream(TASKS).await.map_err(Cause::of)?;
        stream.get_or_create_consumer(&name, config).await.map_err(Cause::of)?;
        Ok::<_, Cause>(())
    })
}

/// Whether messages of a stream wait for a consumer.
pub(super) fn are_pending(link: &Link, stream: &'static str, consumer: String) -> Result<bool, BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("report what waits", async move {
        let stream = jetstream.get_stream_no_info(stream).await.map_err(Cause::of)?;
        stream.consumer_info(consumer).await.map(|info| info.num_pending > 0).map_err(Cause::of)
    })
}

/// Makes the consumer of a channel's results.
pub(super) fn make_results(link: &Link, channel: &Channel) -> Result<PullConsumer, BrokerError> {
    let jetstream = link.jetstream().clone();
    let config = pull::Config {
        durable_name: Some(channel.consumer()),
        description: Some("results of one step of dc0".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        filter_subject: channel.results(),
        inactive_threshold: KEPT,
        ..Default::default()
    };
    let name = channel.consumer();
    link.wait("make a consumer of results", async move {
        let stream = jetstream.get_stream(RESULTS).await.map_err(Cause::of)?;
        stream.get_or_create_consumer(&name, config).await.map_err(Cause::of)
    })
}

/// Deletes a channel's tasks; those that workers do at the moment are done all the same.
pub(super) fn purge_tasks(link: &Link, channel: &Channel) -> Result<(), BrokerError> {
    let (jetstream, subject) = (link.jetstream().clone(), format!("dc0.task.*.{}", channel.digits()));
    link.wait("delete tasks", async move { purge(&jetstream, TASKS, subject).await })
}

/// Deletes a channel's results and their consumer.
pub(super) fn purge_results(link: &Link, channel: &Channel) -> Result<(), BrokerError> {
    let (jetstream, subject, consumer) = (link.jetstream().clone(), channel.results(), channel.consumer());
    link.wait("delete results", async move {
        purge(&jetstream, RESULTS, subject).await?;
        let stream = jetstream.get_stream(RESULTS).await.map_err(Cause::of)?;
        stream.delete_consumer(&consumer).await.map_err(Cause::of)?;
        Ok::<_, Cause>(())
    })
}

async fn purge(jetstream: &Context, stream: &str, subject: String) -> Result<(), Cause> {
    let stream = jetstream.get_stream(stream).await.map_err(Cause::of)?;
    stream.purge().filter(subject).await.map_err(Cause::of)?;
    Ok(())
}
