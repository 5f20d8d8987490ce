//! Distributes work over several simulators.

use std::sync::Mutex;

use kassay_base::error::{Error, Result};

/// Applies `work` to every item, on as many threads as there are `workers` (simulators); the results are in the order
/// of the items. `work` also receives the number of items that were left when it began, its own included.
///
/// # Errors
/// Errors of `work`: the first in the order of items, among those started before one failed.
pub fn each<S: Send, T: Send, R: Send>(
    workers: &mut [S],
    items: impl IntoIterator<Item = T>,
    work: impl Fn(&mut S, T, usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let items: Vec<T> = items.into_iter().collect();
    let total = items.len();
    if let [worker] = workers {
        return items.into_iter().enumerate().map(|(n, item)| work(worker, item, total - n)).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let done: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::with_capacity(total));
    std::thread::scope(|scope| {
        for worker in workers.iter_mut().take(total) {
            scope.spawn(|| {
                loop {
                    let Some((n, item)) = queue.lock().ok().and_then(|mut queue| queue.next()) else { return };
                    let result = work(worker, item, total - n);
                    let failed = result.is_err();
                    if let Ok(mut done) = done.lock() {
                        done.push((n, result));
                    }
                    if failed && let Ok(mut queue) = queue.lock() {
                        queue.by_ref().for_each(drop);
                    }
                }
            });
        }
    });
    let lost = || Error::internal("a thread that ran launches died");
    let mut done = done.into_inner().map_err(|_| lost())?;
    done.sort_by_key(|(n, _)| *n);
    let results = done.into_iter().map(|(_, result)| result).collect::<Result<Vec<R>>>()?;
    if results.len() == total { Ok(results) } else { Err(lost()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_items_on_any_number_of_threads() {
        for workers in [1, 2, 5] {
            let mut workers = vec![0_u64; workers];
            let squares = each(&mut workers, 0..100_u64, |worker, n, left| {
                *worker += 1;
                assert_eq!(left as u64, 100 - n);
                Ok(n * n)
            });
            assert_eq!(squares.unwrap(), (0..100).map(|n| n * n).collect::<Vec<_>>());
            assert_eq!(workers.iter().sum::<u64>(), 100);
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        let failing = |_: &mut (), n: usize, _| if n < 7 { Ok(n) } else { Err(Error::internal(format!("item {n}"))) };
        for workers in [1, 3] {
            let error = each(&mut vec![(); workers], 0..50, failing).unwrap_err();
            assert!(error.to_string().contains("item 7"), "{error}");
        }
    }
}
