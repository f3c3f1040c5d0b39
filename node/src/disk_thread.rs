//! The thread that owns the disk. It hands orders to a [`Keeper`], and passes on what the keeper
//! reports.

use std::{collections::VecDeque, io, thread};

use metatopia_replica::keeper::{Done, Health, History, Keeper, News, Order};
use metatopia_store::{Disk, ReadError, Store};
use tokio::sync::mpsc;

/// The most orders that may wait: a second of a busy sim's records.
pub const ORDERS_MAX: usize = 4_096;

/// The most orders to read turns that may wait while other orders are done: questions of clients,
/// which are at most [`QUESTIONS_MAX`](metatopia_replica::QUESTIONS_MAX), and some of servers. With
/// more, all orders wait.
pub const LOADS_MAX: usize = 2_048;

/// Starts the thread. It ends when the orders end, after doing all of them.
///
/// # Errors
/// Fails when no thread can be started.
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
        keeper.report_findings(&mut tell);
        let mut loads = VecDeque::new();
        while let Some(orders) = round(&mut orders, &mut loads) {
            keeper.work(orders, &mut tell);
        }
        keeper.close(&mut tell);
    })
}

/// Returns the next orders: all that wait, but only one of those that read turns. The other reads
/// stay in `loads`: clients may ask for a thousand old turns at once, and no vote may wait for more
/// than one read. Returns none once the orders have ended.
fn round(orders: &mut mpsc::Receiver<Order>, loads: &mut VecDeque<Order>) -> Option<Vec<Order>> {
    let mut first = match loads.is_empty() {
        true => Some(orders.blocking_recv()?),
        false => None,
    };
    let mut round = Vec::new();
    while loads.len() < LOADS_MAX
        && let Some(order) = first.take().or_else(|| orders.try_recv().ok())
    {
        match order {
            Order::Load { .. } => loads.push_back(order),
            // A replacement ends all reads, so the reads that came before it are done first.
            Order::Replace { .. } => round.extend(loads.drain(..).chain([order])),
            order => round.push(order),
        }
    }
    round.extend(loads.pop_front());
    Some(round)
}

fn log(news: &News) {
    match news {
        News::Stored(height) => tracing::info!(%height, "snapshot stored"),
        News::PutBack { first, last } => {
            tracing::info!(%first, %last, "missing turns were put back");
        }
        News::Forgotten { turns } => tracing::info!(turns, "words were forgotten"),
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

/// Logs why clients cannot get all the turns that they may ask for after a start.
pub(crate) fn log_unread(unread: Option<&ReadError>) {
    if let Some(error) = unread {
        tracing::error!(%error, "turns of the past cannot be read");
    }
}

#[cfg(test)]
mod tests {
    use metatopia_consensus::RecordPosition;
    use metatopia_replica::Reader;
    use metatopia_types::Height;

    use super::*;

    fn load(number: u64) -> Order {
        Order::Load { reader: Reader::Question(number), from: Height(1), count: 1 }
    }

    fn loads(round: &[Order]) -> usize {
        round.iter().filter(|order| matches!(order, Order::Load { .. })).count()
    }

    /// Once all questions that waited were answered before the next vote was durable.
    #[test]
    fn a_vote_waits_for_one_question_however_many_wait() {
        let (sender, mut orders) = mpsc::channel(ORDERS_MAX);
        let mut waiting = VecDeque::new();
        (0..1_000).for_each(|number| sender.blocking_send(load(number)).expect("there is room"));
        assert_eq!(loads(&round(&mut orders, &mut waiting).expect("orders")), 1);

        sender.blocking_send(Order::Sync(RecordPosition::START)).expect("there is room");
        let next = round(&mut orders, &mut waiting).expect("orders");

        assert!(matches!(next[..], [Order::Sync(_), Order::Load { .. }]), "{next:?}");
        drop(sender);
        let mut rest = 0;
        while let Some(round) = round(&mut orders, &mut waiting) {
            rest += loads(&round);
        }
        assert_eq!(rest, 998, "none is forgotten");
    }

    #[test]
    fn with_too_many_questions_all_orders_wait() {
        let (sender, mut orders) = mpsc::channel(ORDERS_MAX);
        (0..ORDERS_MAX as u64).for_each(|n| sender.blocking_send(load(n)).expect("there is room"));
        sender.try_send(load(0)).expect_err("whoever orders more waits");
        let mut waiting = VecDeque::new();

        round(&mut orders, &mut waiting).expect("orders");

        assert_eq!(waiting.len(), LOADS_MAX - 1);
        assert_eq!(orders.len(), ORDERS_MAX - LOADS_MAX);
    }
}
