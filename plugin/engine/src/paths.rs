//! Where the files of this program live (X1).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable that moves the data folder. Its value is an argument of
/// [`DataDir::resolve`]; nothing here reads the environment for it.
pub const DATA_DIR_VARIABLE: &str = "OPENCHAMBER_DATA_DIR";

/// The name of the app's own folder inside the user's data folder: the identifier of the desktop
/// app, so that `app_data_dir()` of the window and the command line meet in the same place.
pub const APP_IDENTIFIER: &str = "dev.openchamber.desktop";

/// Why the data folder has no place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathsError {
    /// The operating system names no data folder for this user.
    #[error(
        "this user has no data folder; name one with --data-dir or {DATA_DIR_VARIABLE}, \
         or set HOME"
    )]
    NoDataFolder,
    /// A relative folder was named and the working directory cannot be read.
    #[error("the data folder {} cannot be made absolute: {source}", path.display())]
    NotAbsolute {
        /// The folder as it was named.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// The data folder, absolute. It need not exist: who writes into it first creates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// Takes the first that is named and not empty: `explicit` (a flag or a builder's setting),
    /// `variable` (the value of [`DATA_DIR_VARIABLE`]), the app's folder in the user's data
    /// folder. A relative one is taken from the working directory.
    ///
    /// # Errors
    ///
    /// [`PathsError`] if none is named and the system knows none, or if the working directory of
    /// a relative one cannot be read.
    pub fn resolve(explicit: Option<&Path>, variable: Option<&OsStr>) -> Result<Self, PathsError> {
        Self::choose(explicit, variable, dirs::data_dir())
    }

    fn choose(
        explicit: Option<&Path>,
        variable: Option<&OsStr>,
        system: Option<PathBuf>,
    ) -> Result<Self, PathsError> {
        let named = explicit
            .into_iter()
            .chain(variable.map(Path::new))
            .find(|path| !path.as_os_str().is_empty());
        let path = match named {
            Some(path) => path.to_path_buf(),
            None => system.ok_or(PathsError::NoDataFolder)?.join(APP_IDENTIFIER),
        };
        match std::path::absolute(&path) {
            Ok(absolute) => Ok(Self(absolute)),
            Err(source) => Err(PathsError::NotAbsolute { path, source }),
        }
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of the objective files (O1).
    #[must_use]
    pub fn objectives(&self) -> PathBuf {
        self.0.join("goals")
    }

    /// The settings file, shared by the window and the command line.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.0.join("goals.sqlite3")
    }

    /// The folder of the log files.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }
}

/// The folder in which OpenChamber's own server keeps objective files (X1). It is read, never
/// written. `None` if this user has no home folder.
#[must_use]
pub fn legacy_objectives() -> Option<PathBuf> {
    dirs::home_dir().map(|home| home.join(".config").join("openchamber").join("goals"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(explicit: Option<&str>, variable: Option<&str>, system: Option<&str>) -> PathBuf {
        DataDir::choose(
            explicit.map(Path::new),
            variable.map(OsStr::new),
            system.map(PathBuf::from),
        )
        .map(|dir| dir.0)
        .unwrap()
    }

    #[test]
    fn the_first_named_folder_wins() {
        let system = PathBuf::from("/sys").join(APP_IDENTIFIER);
        assert_eq!(
            choose(Some("/flag"), Some("/var"), Some("/sys")),
            Path::new("/flag")
        );
        assert_eq!(choose(None, Some("/var"), Some("/sys")), Path::new("/var"));
        assert_eq!(choose(None, None, Some("/sys")), system);
        assert_eq!(
            choose(Some(""), Some(""), Some("/sys")),
            system,
            "empty names nothing"
        );
        assert_eq!(choose(Some(""), Some("/var"), None), Path::new("/var"));
    }

    #[test]
    fn a_relative_folder_becomes_absolute() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(choose(Some("data"), None, None), here.join("data"));
    }

    #[test]
    fn without_any_folder_the_error_says_what_to_do() {
        let error = DataDir::choose(None, None, None).unwrap_err();
        assert!(error.to_string().contains("--data-dir"), "{error}");
    }

    #[test]
    fn the_files_have_their_places() {
        let dir = DataDir::resolve(Some(Path::new("/data")), None).unwrap();
        assert_eq!(dir.objectives(), Path::new("/data/goals"));
        assert_eq!(dir.settings(), Path::new("/data/settings.json"));
        assert_eq!(dir.database(), Path::new("/data/goals.sqlite3"));
        assert_eq!(dir.logs(), Path::new("/data/logs"));
        assert!(legacy_objectives().is_none_or(|dir| dir.ends_with(".config/openchamber/goals")));
    }
}
