//! How far counts are from bills.

use super::calibrate::RowResult;

/// Errors of a set of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of requests.
    pub rows: u64,
    /// Counted to the token.
    pub exact: u64,
    /// Off by at most one token.
    pub within_one: u64,
    /// Median error, in millionths of the billed tokens.
    pub median_ppm: u64,
    /// 95th percentile.
    pub p95_ppm: u64,
    /// Largest error.
    pub worst_ppm: u64,
    /// Largest error in tokens.
    pub worst_tokens: u64,
    /// Bills that lie in the interval that the count states.
    pub inside: u64,
}

/// One request's count and bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Error {
    pub(super) counted: u64,
    pub(super) billed: u64,
    pub(super) between: (u64, u64),
}

impl Error {
    fn tokens(self) -> u64 {
        self.counted.abs_diff(self.billed)
    }

    fn ppm(self) -> u64 {
        let product = u128::from(self.tokens()) * 1_000_000;
        u64::try_from(product / u128::from(self.billed.max(1))).unwrap_or(u64::MAX)
    }
}

impl Statistics {
    pub(super) fn of(errors: &[Error]) -> Statistics {
        let mut ppm: Vec<u64> = errors.iter().map(|error| error.ppm()).collect();
        ppm.sort_unstable();
        // The smallest error that so many per cent of the requests do not exceed.
        let rank = |percent: usize| {
            let index = (ppm.len() * percent).div_ceil(100).max(1) - 1;
            ppm.get(index).copied().unwrap_or_default()
        };
        let count = |holds: &dyn Fn(&&Error) -> bool| errors.iter().filter(holds).count() as u64;
        Statistics {
            rows: errors.len() as u64,
            exact: count(&|error| error.tokens() == 0),
            within_one: count(&|error| error.tokens() <= 1),
            median_ppm: rank(50),
            p95_ppm: rank(95),
            worst_ppm: rank(100),
            worst_tokens: errors.iter().map(|error| error.tokens()).max().unwrap_or(0),
            inside: count(&|error| (error.between.0..=error.between.1).contains(&error.billed)),
        }
    }

    /// Errors of requests that are counted already.
    pub fn of_rows(rows: &[&RowResult]) -> Statistics {
        let errors: Vec<Error> = rows.iter().map(|row| row.of_count()).collect();
        Statistics::of(&errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_sorted_errors() {
        let error = |counted| Error { counted, billed: 1_000, between: (counted, counted + 1) };
        let errors: Vec<Error> = [1_000, 1_001, 998, 1_010].into_iter().map(error).collect();
        let found = Statistics::of(&errors);
        assert_eq!((found.rows, found.exact, found.within_one), (4, 1, 2));
        assert_eq!((found.median_ppm, found.p95_ppm, found.worst_ppm), (1_000, 10_000, 10_000));
        assert_eq!((found.worst_tokens, found.inside), (10, 1));
        assert_eq!(Statistics::of(&[]), Statistics::default());
    }
}
