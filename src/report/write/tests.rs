//! Full disks, refused renames, stale files.

use super::*;
use crate::report::fixtures;

/// A disk that takes a number of bytes and of operations, then refuses.
struct FailingDisk {
    bytes_left: usize,
    operations_left: usize,
}

impl FailingDisk {
    fn operation(&mut self) -> io::Result<()> {
        match self.operations_left.checked_sub(1) {
            Some(left) => {
                self.operations_left = left;
                Ok(())
            }
            None => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl Storage for FailingDisk {
    fn kind(&self, path: &Path) -> Option<EntryKind> {
        Disk.kind(path)
    }

    fn read_text(&mut self, path: &Path) -> io::Result<String> {
        Disk.read_text(path)
    }

    fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        self.operation()?;
        Disk.create_folder(path)
    }

    fn create_file(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.operation()?;
        let taken = bytes.len().min(self.bytes_left);
        self.bytes_left -= taken;
        Disk.create_file(path, &bytes[..taken])?;
        if taken < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation()?;
        Disk.rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        Disk.remove_file(path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        Disk.remove_folder(path)
    }
}

fn small_report(names: &[&str]) -> Report {
    let mut report = Report::default();
    for name in names {
        report.push(name, format!("bytes of {name}"));
    }
    report.finish(&fixtures::manifest()).unwrap();
    report
}

/// Every path below `dir` with its bytes; folders end in `/`.
fn tree(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                found.push((format!("{name}/"), Vec::new()));
                open.push(path);
            } else {
                found.push((name, fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_written_is_the_report_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("reports/golden");
    let report = small_report(&["summary.json", "charts/a.svg"]);
    write(&dir, &report, &mut Disk).unwrap();
    let mut expected = report.files.clone();
    expected.push(("charts/".to_owned(), Vec::new()));
    expected.sort();
    assert_eq!(tree(&dir), expected);
}

#[test]
fn a_full_disk_leaves_nothing_at_any_byte() {
    let report = small_report(&["summary.json", "charts/a.svg"]);
    let size: usize = report.files.iter().map(|(_, bytes)| bytes.len()).sum();
    for bytes_left in 0..size {
        let root = tempfile::tempdir().unwrap();
        let mut storage = FailingDisk { bytes_left, operations_left: usize::MAX };
        let error = write(&root.path().join("deep/out"), &report, &mut storage).unwrap_err();
        assert_eq!(tree(root.path()), Vec::new(), "after {bytes_left} bytes");
        let text = error.to_string();
        assert!(text.starts_with("write ") && text.contains("free space"), "{text}");
    }
}

#[test]
fn a_full_disk_leaves_the_former_report_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &small_report(&["summary.json", "charts/a.png"]), &mut Disk).unwrap();
    let before = tree(root.path());
    let mut storage = FailingDisk { bytes_left: 20, operations_left: usize::MAX };
    write(root.path(), &small_report(&["records.csv", "summary.json"]), &mut storage).unwrap_err();
    assert_eq!(tree(root.path()), before);
}

#[test]
fn whichever_operation_fails_no_file_is_half_written() {
    let report = small_report(&["summary.json", "charts/a.svg"]);
    let mut failures = 0;
    for operations_left in 0.. {
        let root = tempfile::tempdir().unwrap();
        let mut storage = FailingDisk { bytes_left: usize::MAX, operations_left };
        let result = write(&root.path().join("out"), &report, &mut storage);
        for (name, bytes) in tree(root.path()) {
            let name = name.strip_prefix("out/").unwrap_or(&name);
            let whole = report.files.iter().any(|file| file.0 == name && file.1 == bytes);
            assert!(name.ends_with('/') || name.is_empty() || whole, "{name}");
        }
        if result.is_ok() {
            break;
        }
        failures += 1;
    }
    // Two folders, three files, three renames.
    assert_eq!(failures, 8);
}

#[test]
fn files_of_the_former_report_go_and_files_of_the_user_stay() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &small_report(&["a.csv", "charts/a.png"]), &mut Disk).unwrap();
    fs::write(root.path().join("notes.md"), "mine").unwrap();
    write(root.path(), &small_report(&["a.csv"]), &mut Disk).unwrap();
    assert!(!root.path().join("charts/a.png").exists());
    assert!(root.path().join("a.csv").exists() && root.path().join("notes.md").exists());
}

#[test]
fn a_manifest_cannot_name_files_outside_the_folder() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("out");
    fs::create_dir(&dir).unwrap();
    fs::write(root.path().join("precious"), "mine").unwrap();
    fs::write(dir.join(MANIFEST), "files = [\"../precious\"]").unwrap();
    write(&dir, &small_report(&["a.csv"]), &mut Disk).unwrap();
    assert!(root.path().join("precious").exists());
    let error = write(&dir, &small_report(&["../a.csv"]), &mut Disk).unwrap_err();
    assert!(matches!(error, ReportError::OutsideFolder { .. }), "{error}");
}

#[test]
fn a_file_in_place_of_the_folder_is_refused_and_kept() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("out");
    fs::write(&path, "mine").unwrap();
    let error = write(&path, &small_report(&["a.csv"]), &mut Disk).unwrap_err();
    assert!(matches!(error, ReportError::NotAFolder { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_folder_in_place_of_a_file_is_refused_before_anything_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("b.csv")).unwrap();
    let error = write(root.path(), &small_report(&["a.csv", "b.csv"]), &mut Disk).unwrap_err();
    assert!(error.to_string().contains("b.csv"), "{error}");
    assert_eq!(tree(root.path()), [("b.csv/".to_owned(), Vec::new())]);
}

#[test]
fn an_assembled_report_lists_all_its_files_and_is_the_same_twice() {
    let fixture = fixtures::golden();
    let input = ChartInput { records: &fixture.records, segments: &fixture.segments };
    let assemble = |images| {
        let json = "{}".to_owned();
        Report::assemble(&fixture.summary, json, &input, &fixtures::manifest(), images).unwrap()
    };
    let report = assemble(Images::SvgAndPng);
    assert_eq!(report, assemble(Images::SvgAndPng));
    let (last, manifest) = report.files.last().unwrap();
    assert_eq!(last, MANIFEST);
    let mut names: Vec<&str> = report.files.iter().map(|(name, _)| name.as_str()).collect();
    names.pop();
    names.sort_unstable();
    assert_eq!(listed_files(std::str::from_utf8(manifest).unwrap()), names);
    assert_eq!(names.len(), 4 + 2 * charts::ALL.len());
    assert_eq!(assemble(Images::Svg).files.len(), 5 + charts::ALL.len());
}
