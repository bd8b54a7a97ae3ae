//! `forkcost run`: the main job.

use std::path::{Path, PathBuf};

use super::config::Config;
use super::error::CliError;
use super::exit_code;
use super::interrupt;
use super::output::Output;
use super::progress::Progress;
use super::sources::{self, Source};
use super::spool::{Spool, is_same_file};
use crate::analysis::{Summary, expect};
use crate::counting::Corrections;
use crate::provider::rules;
use crate::report::charts::ChartInput;
use crate::report::{self, Disk, Images, Manifest, Report, Reported};
use crate::scenario::{LoadError, Scenario};
use crate::simulate::Measured;
use crate::trace::timeline::{self, Header};
use crate::whatif::{Study, calibrated, study};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Scenario files, folders of them (every .toml file below but forkcost.toml and
    /// manifest.toml), or `-` for the standard input.
    #[arg(required = true, value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,
    /// Folder for the report; with several scenarios, or a folder of them, each has a folder of its
    /// own in it.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print the summary as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Draw the charts as PNG too.
    #[arg(long)]
    pub png: bool,
    /// Also write the requests of this plan as a timeline, which `forkcost replay` plays.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Count with what `forkcost calibrate --out` found for the scenario's model, tokenizer and
    /// kind of request; expectations are not checked then.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// Write no report.
    #[arg(long, conflicts_with_all = ["output", "png"])]
    pub no_report: bool,
    /// Change a key of the scenario, e.g. fork.children=8; expectations are not checked then.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = sources::parse_override)]
    pub overrides: Vec<(String, String)>,
}

/// Folder of reports where none is named.
const REPORTS: &str = "reports";

/// Runs every scenario that is named.
pub(super) fn run(args: &Args, output: Output, config: &Config) -> Result<(), CliError> {
    let sources = sources::find(&args.scenarios)?;
    if args.timeline.is_some() && sources.len() > 1 {
        return Err(CliError::Usage {
            message: format!("--timeline takes one scenario, but {} are named", sources.len()),
            help: "name one scenario file".to_owned(),
        });
    }
    if let Some(path) = &args.timeline
        && sources.iter().any(|source| is_same_file(&source.path, path))
    {
        return Err(CliError::Usage {
            message: format!("--timeline names the scenario itself, {}", path.display()),
            help: "name another file".to_owned(),
        });
    }
    let corrections = args.calibration.as_deref().map(corrections).transpose()?;
    let job = Job { args, output, config, corrections, single: sources.len() == 1 };
    match sources.as_slice() {
        [source] if !source.found => job.one(source).map(drop),
        _ => job.several(&sources),
    }
}

struct Job<'a> {
    args: &'a Args,
    output: Output,
    config: &'a Config,
    corrections: Option<Corrections>,
    single: bool,
}

fn corrections(path: &Path) -> Result<Corrections, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| CliError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    Corrections::parse(&text).map_err(|error| CliError::Usage {
        message: format!("{}:{error}", path.display()),
        help: "write one with `forkcost calibrate ROWS --out FILE`".to_owned(),
    })
}

impl Job<'_> {
    /// Load, study, write, print, and check what was expected.
    fn one(&self, source: &Source) -> Result<Summary, CliError> {
        let mut progress = Progress::new(self.output, 1);
        let scenario = self.load(source)?;
        let studied = self.study(source, &scenario, &mut progress)?;
        progress.finish();
        let folder = self.write(source, &scenario, &studied)?;
        self.write_timeline(&scenario, &studied)?;
        self.print(&studied.summary, folder.as_deref())?;
        self.check(source, &scenario, &studied.summary)?;
        Ok(studied.summary)
    }

    /// The scenario, calibrated where that is asked for.
    fn load(&self, source: &Source) -> Result<Scenario, CliError> {
        let scenario = sources::load(source, &self.args.overrides)?;
        let Some(corrections) = &self.corrections else { return Ok(scenario) };
        let found = calibrated(&scenario, corrections)
            .map_err(|error| CliError::study(&source.path, &scenario, error))?;
        if found.correction.is_none() {
            let (model, tokenizer) = (&scenario.model.id, scenario.tokenizer);
            self.output.message(&format!(
                "{}: the calibration says nothing of such requests to {model} under {tokenizer}",
                source.path.display()
            ));
        }
        Ok(found)
    }

    fn study(
        &self,
        source: &Source,
        scenario: &Scenario,
        progress: &mut Progress,
    ) -> Result<Study, CliError> {
        study(scenario, &mut |stage| progress.say(stage))
            .map_err(|error| CliError::study(&source.path, scenario, error))
    }

    /// Every scenario by itself: one that fails does not stop the others.
    fn several(&self, sources: &[Source]) -> Result<(), CliError> {
        let mut progress = Progress::new(self.output, sources.len() as u64);
        let mut runs = Vec::new();
        let (mut failed, mut code) = (0, exit_code::DONE);
        for source in sources {
            progress.say(&source.path.display().to_string());
            match self.quietly(source) {
                Ok((summary, verdict)) => {
                    let folder = source.report.to_string_lossy().replace('\\', "/");
                    runs.push(Reported { folder, summary });
                    if let Err(error) = verdict {
                        failed += 1;
                        code = code.max(error.code());
                    }
                }
                Err(CliError::Load(LoadError::DataFolderUnset(_))) if source.found => {
                    let path = source.path.display();
                    self.output.message(&format!("{path}: skipped, FORKCOST_DATA is not set"));
                }
                Err(error @ CliError::OutputClosed) => return Err(error),
                Err(error) => {
                    self.output.error(&error);
                    failed += 1;
                    code = code.max(error.code());
                }
            }
            progress.step();
        }
        progress.finish();
        self.overview(&runs)?;
        if failed > 0 {
            return Err(CliError::Several { failed, total: sources.len(), code });
        }
        Ok(())
    }

    /// One of several scenarios: its report is written, its text is not printed.
    fn quietly(&self, source: &Source) -> Result<(Summary, Result<(), CliError>), CliError> {
        let scenario = self.load(source)?;
        let mut progress = Progress::new(self.output, 1);
        let studied = self.study(source, &scenario, &mut progress)?;
        self.write(source, &scenario, &studied)?;
        self.write_timeline(&scenario, &studied)?;
        let verdict = self.check(source, &scenario, &studied.summary);
        Ok((studied.summary, verdict))
    }

    fn overview(&self, runs: &[Reported]) -> Result<(), CliError> {
        if self.args.json {
            let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
            return self.output.result(&json_text(&summaries)?);
        }
        self.output.result(report::overview_text(runs, self.output.width()).as_bytes())?;
        if self.args.no_report || runs.is_empty() {
            return Ok(());
        }
        let folder = self.root();
        let mut overview = Report::default();
        overview.push("overview.csv", report::overview_csv(runs)?);
        overview.push("overview.md", report::overview_markdown(runs));
        interrupt::uninterrupted(|| report::write(&folder, &overview, &mut Disk))?;
        let path = folder.join("overview.md");
        self.output.result(format!("\n{}\n", path.display()).as_bytes())
    }

    fn root(&self) -> PathBuf {
        let named = self.args.output.clone().or_else(|| self.config.output.clone());
        named.unwrap_or_else(|| PathBuf::from(REPORTS))
    }

    /// The report's folder: the one named by `-o` for a single scenario, else one below it.
    fn folder(&self, source: &Source) -> PathBuf {
        match &self.args.output {
            Some(folder) if self.single && !source.found => folder.clone(),
            Some(_) | None => self.root().join(&source.report),
        }
    }

    fn write(
        &self,
        source: &Source,
        scenario: &Scenario,
        studied: &Study,
    ) -> Result<Option<PathBuf>, CliError> {
        if self.args.no_report {
            return Ok(None);
        }
        let folder = self.folder(source);
        let report = self.report(scenario, studied)?;
        interrupt::uninterrupted(|| report::write(&folder, &report, &mut Disk))?;
        Ok(Some(folder))
    }

    fn write_timeline(&self, scenario: &Scenario, studied: &Study) -> Result<(), CliError> {
        let Some(path) = &self.args.timeline else { return Ok(()) };
        let header = Header {
            model: Some(scenario.model_name.clone()),
            date: Some(scenario.date),
            tokenizer: Some(scenario.tokenizer.to_string()),
            rules: rules::stated(&scenario.rules),
            comment: None,
        };
        let Measured { events, prompts } = &studied.played;
        let failed = |source| CliError::Io { action: "write", path: path.clone(), source };
        let mut spool = Spool::new().map_err(failed)?;
        timeline::write(&mut spool, &header, events, prompts).map_err(failed)?;
        spool.persist(path)
    }

    fn report(&self, scenario: &Scenario, studied: &Study) -> Result<Report, CliError> {
        let png = self.args.png || self.config.png.unwrap_or(false);
        let images = if png { Images::SvgAndPng } else { Images::Svg };
        let summary = &studied.summary;
        let mut overrides = scenario.rule_overrides.clone();
        overrides.extend(self.args.overrides.iter().map(|(key, value)| format!("{key}={value}")));
        let manifest = Manifest {
            scenario: scenario.name.clone(),
            scenario_hash: scenario.source_hash.clone(),
            model: scenario.model.id.clone(),
            date: scenario.date.to_string(),
            prices_from: summary.prices_from.clone(),
            facts_checked: scenario.provider.facts().checked.to_string(),
            tokenizer: summary.tokenizer.name.clone(),
            exactness: summary.tokenizer.exactness.clone(),
            seed: scenario.seed,
            rule_overrides: overrides,
            ..Manifest::default()
        };
        let input = ChartInput { records: &studied.records, segments: &studied.segments };
        let json = String::from_utf8_lossy(&json_text(summary)?).into_owned();
        Ok(Report::assemble(summary, json, &input, &manifest, images)?)
    }

    fn print(&self, summary: &Summary, folder: Option<&Path>) -> Result<(), CliError> {
        if self.args.json {
            return self.output.result(&json_text(summary)?);
        }
        let styled = self.output.styles_stdout();
        let mut text = report::verdict(summary, self.output.width(), styled);
        if let Some(folder) = folder {
            let file = folder.join("report.md");
            text.push_str(&format!("\n{} and the files beside it\n", file.display()));
        }
        self.output.result(text.as_bytes())
    }

    /// Prints every expectation that does not hold.
    fn check(
        &self,
        source: &Source,
        scenario: &Scenario,
        summary: &Summary,
    ) -> Result<(), CliError> {
        if !self.args.overrides.is_empty() || self.args.calibration.is_some() {
            return Ok(());
        }
        let (mut count, mut unknown) = (0, 0);
        for expected in &scenario.expect {
            let unmet = expect::check(summary, &expected.path, &expected.value.as_text());
            let Some(unmet) = unmet else { continue };
            let (path, line, key) = (source.path.display(), expected.line, &expected.path);
            self.output.error(&CliError::Config(match unmet.found {
                Some(found) => {
                    count += 1;
                    format!("{path}:{line}: expect.{key} is {found}, expected {}", unmet.expected)
                }
                None => {
                    unknown += 1;
                    format!("{path}:{line}: expect.{key}: summary.json has nothing of that name")
                }
            }));
        }
        if unknown > 0 {
            return Err(CliError::Usage {
                message: format!("{unknown} keys of [expect] lead nowhere"),
                help: "forkcost run --json shows every name".to_owned(),
            });
        }
        match count {
            0 => Ok(()),
            1 => Err(CliError::NotMet { count: "1 expectation".to_owned() }),
            more => Err(CliError::NotMet { count: format!("{more} expectations") }),
        }
    }
}

/// Pretty JSON with a line end.
fn json_text(value: &impl serde::Serialize) -> Result<Vec<u8>, CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::Io {
        action: "write",
        path: "summary.json".into(),
        source: error.into(),
    })?;
    Ok(format!("{text}\n").into_bytes())
}
