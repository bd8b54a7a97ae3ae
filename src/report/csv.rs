//! `records.csv` and `segments.csv`: the rows that every chart and table is made from.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{RunRecord, SegmentRecord};
use crate::report::ReportError;

const RECORDS: &str = "records.csv";
const SEGMENTS: &str = "segments.csv";

/// The bytes of `records.csv`: a header and one line a request, in the order given.
///
/// # Errors
/// [`ReportError::Csv`] where a row cannot be written.
pub fn records_csv(records: &[RunRecord]) -> Result<Vec<u8>, ReportError> {
    rows_to_csv(RECORDS, records)
}

/// The bytes of `segments.csv`: a header and one line a segment, in the order given.
///
/// # Errors
/// [`ReportError::Csv`] where a row cannot be written.
pub fn segments_csv(segments: &[SegmentRecord]) -> Result<Vec<u8>, ReportError> {
    rows_to_csv(SEGMENTS, segments)
}

/// The rows of a `records.csv`.
///
/// # Errors
/// [`ReportError::Csv`] with line and field of the first row that cannot be read.
pub fn read_records(bytes: &[u8]) -> Result<Vec<RunRecord>, ReportError> {
    csv_to_rows(RECORDS, bytes)
}

/// The rows of a `segments.csv`.
///
/// # Errors
/// [`ReportError::Csv`] with line and field of the first row that cannot be read.
pub fn read_segments(bytes: &[u8]) -> Result<Vec<SegmentRecord>, ReportError> {
    csv_to_rows(SEGMENTS, bytes)
}

/// Rows as CSV with a header; no rows give no bytes, as nothing says what the header would be.
pub(crate) fn rows_to_csv<Row: Serialize>(
    file: &'static str,
    rows: &[Row],
) -> Result<Vec<u8>, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| csv_error(file, &error))?;
    }
    writer
        .into_inner()
        .map_err(|error| ReportError::Csv { file, reason: error.error().to_string() })
}

fn csv_to_rows<Row: DeserializeOwned>(
    file: &'static str,
    bytes: &[u8],
) -> Result<Vec<Row>, ReportError> {
    csv::Reader::from_reader(bytes)
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| csv_error(file, &error))
}

fn csv_error(file: &'static str, error: &csv::Error) -> ReportError {
    ReportError::Csv { file, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::fixtures;

    proptest! {
        #[test]
        fn records_survive_the_round_trip(
            request in ".*", reason in ".*", seq: u32, start_ms: i64, read: u64, cost: i128,
        ) {
            let mut records = fixtures::golden().records;
            records[0].request = request;
            records[0].reason = reason;
            records[0].seq = seq;
            records[0].start_ms = start_ms;
            records[0].read = read;
            records[0].read_pico_usd = cost;
            let bytes = records_csv(&records).unwrap();
            prop_assert_eq!(read_records(&bytes).unwrap(), records);
        }

        #[test]
        fn segments_survive_the_round_trip(segment in ".*", tokens: u64, markers in ".*") {
            let mut segments = fixtures::golden().segments;
            segments[1].segment = segment;
            segments[1].tokens = tokens;
            segments[1].markers = markers;
            let bytes = segments_csv(&segments).unwrap();
            prop_assert_eq!(read_segments(&bytes).unwrap(), segments);
        }
    }

    #[test]
    fn the_header_names_every_field_in_order() {
        let bytes = records_csv(&fixtures::golden().records).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.starts_with("plan,seq,request,role,model,start_ms,"), "{header}");
        assert!(header.ends_with(",markers,tokenizer,exactness"), "{header}");
    }

    #[test]
    fn a_broken_row_is_named_by_line_and_field() {
        let text = "segment,blocks,bytes,tokens,start_tokens,end_tokens,markers,shared\n\
                    tools,41,1,12000,0,12000,,all\nsystem,2,1,many,12000,16000,,all\n";
        let message = read_segments(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("segments.csv") && message.contains("line: 3"), "{message}");
    }
}
