//! A tokenizer that the command line names, with the file that it may name.

use std::io::Read;
use std::path::Path;

use super::error::CliError;
use crate::tokens::{TokenizerError, TokenizerSpec};

/// Largest file; the tokenizers of the largest vocabularies have a tenth of it.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The tokenizer that an argument names, e.g. `o200k_base*1.65` or `hf:tokenizer.json`.
pub(super) fn named(text: &str) -> Result<TokenizerSpec, CliError> {
    TokenizerSpec::parse_with(text, |path| read(Path::new(path)))
}

impl From<TokenizerError> for CliError {
    fn from(error: TokenizerError) -> CliError {
        let help = error.file_remedy().unwrap_or("name one of them").to_owned();
        CliError::Usage { message: error.to_string(), help }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::Io { action: "read", path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(CliError::Usage {
            message: format!("{} is larger than {} MB", path.display(), FILE_BYTES_MAX >> 20),
            help: "name a tokenizer.json".to_owned(),
        });
    }
    Ok(bytes)
}
