//! The thread that owns the disk: hands a [`Keeper`] what it is ordered, and on what it says.

use std::{io, thread};

use metatopia_replica::keeper::{Done, Health, History, Keeper, News, Order};
use metatopia_store::{Disk, ReadError, Store};
use tokio::sync::mpsc;

/// Orders that may wait: a second of a busy sim's records.
pub const ORDERS_MAX: usize = 4_096;

/// Starts the thread. It ends when the orders end, after doing all of them.
///
/// # Errors
/// When no thread can be started.
pub fn start<D: Disk + Send + 'static>(
    store: Store<D>,
    history: History,
    mut orders: mpsc::Receiver<Order>,
    done: mpsc::Sender<Done>,
) -> io::Result<thread::JoinHandle<()>> {
    let mut keeper = Keeper::new(store, history);
    thread::Builder::new().name("storage".into()).spawn(move || {
        let mut tell = |what| match what {
            Done::News(news) => log(&news),
            what => {
                if let Done::Health(health) = &what {
                    log_health(health);
                }
                let _receiver_gone = done.blocking_send(what);
            }
        };
        keeper.tell_all(&mut tell);
        let mut waiting = Vec::new();
        while let Some(first) = orders.blocking_recv() {
            waiting.push(first);
            while let Ok(more) = orders.try_recv() {
                waiting.push(more);
            }
            keeper.work(waiting.drain(..), &mut tell);
        }
        keeper.close(&mut tell);
    })
}

fn log(news: &News) {
    match news {
        News::Stored(height) => tracing::info!(%height, "snapshot stored"),
        News::PutBack { first, last } => {
            tracing::info!(%first, %last, "turns that were missing are put back");
        }
        trouble => tracing::warn!("{trouble}"),
    }
}

fn log_health(health: &Health) {
    match health {
        Health::Sound => tracing::info!("there is room for the log again"),
        Health::Full => tracing::error!("no room for the log: no votes until there is"),
        Health::Swamped => tracing::error!("no room for the log, and no more may wait for it"),
        Health::Failed(error) => {
            tracing::error!(%error, "the log cannot be written: no votes until a restart");
        }
    }
}

/// Says why clients will not hear of all turns that they may ask for, after a start.
pub(crate) fn log_unread(unread: Option<&ReadError>) {
    if let Some(error) = unread {
        tracing::error!(%error, "turns of the past cannot be read");
    }
}
