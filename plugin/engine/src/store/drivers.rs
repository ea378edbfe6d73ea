//! Which process drives which server: a lease with a heartbeat and a fence.
//!
//! Two hosts on one server would audit and continue everything twice. The row of a server names
//! its one driver; every grant raises the fence, so a driver that slept through its own
//! replacement finds out at its next heartbeat.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use goal_core::time::{Wall, millis};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use url::{Host, Url};

use crate::processes::Process;

use super::{StoreError, WORD_BYTES_MAX, from_sql, limit_to_sql, to_sql, wall, without_sync, word};

/// Servers remembered: one a day for most of a year. Only rows that nobody holds are dropped.
pub const DRIVERS_MAX: usize = 256;

/// Names a server for the lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerKey(String);

impl ServerKey {
    /// The key of a running server at `url`: scheme, host, port and path, the same for every
    /// spelling of this machine's own address. User name, password and query are left out.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidServerUrl`] if it is no `http` or `https` URL with a host.
    pub fn attached(url: &str) -> Result<Self, StoreError> {
        let url = Url::parse(url).map_err(|_| StoreError::InvalidServerUrl)?;
        let (Some(host), Some(port), "http" | "https") =
            (url.host(), url.port_or_known_default(), url.scheme())
        else {
            return Err(StoreError::InvalidServerUrl);
        };
        let host = if is_this_machine(&host) {
            "loopback".to_owned()
        } else {
            host.to_string()
        };
        let path = url.path().trim_end_matches('/');
        let key = format!("{}://{host}:{port}{path}", url.scheme());
        if key.len() > WORD_BYTES_MAX {
            return Err(StoreError::InvalidServerUrl);
        }
        Ok(Self(key))
    }

    /// The key of the server that a process starts for this data folder: each start picks another
    /// port, but all of them serve the same sessions.
    #[must_use]
    pub fn managed(data_dir: &Path) -> Self {
        let folder = data_dir
            .canonicalize()
            .unwrap_or_else(|_| data_dir.to_path_buf());
        Self(word(&format!("managed:{}", folder.display())).to_owned())
    }

    /// The key as text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A process that may drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    nonce: String,
    process: Process,
}

impl Owner {
    /// This process. `nonce` is random text that is drawn anew for each engine.
    #[must_use]
    pub fn this_process(nonce: &str) -> Self {
        let process = Process::this();
        Self {
            nonce: word(nonce).to_owned(),
            process: Process {
                host: word(&process.host).to_owned(),
                ..process
            },
        }
    }

    pub(super) fn nonce(&self) -> &str {
        &self.nonce
    }

    pub(super) fn process(&self) -> &Process {
        &self.process
    }
}

/// Who drives instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Since when it drives.
    pub since: Wall,
    /// When it last said so.
    pub heartbeat: Wall,
}

/// The answer to a process that wants to drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// It drives, with this fence: larger than that of every earlier driver of the server.
    Mine(u64),
    /// Another process drives; this one is passive.
    HeldBy(Holder),
}

pub(super) fn acquire(
    connection: &mut Connection,
    server: &ServerKey,
    me: &Owner,
    now: Wall,
    stale_after: Duration,
) -> Result<Lease, StoreError> {
    // Immediate: the look at the row and its change are one step for all processes.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = find(&transaction, server)?;
    if let Some(row) = found
        .as_ref()
        .filter(|row| row.keeps_out(me, now, stale_after))
    {
        return Ok(Lease::HeldBy(row.holder));
    }
    let (fence, since) = match &found {
        Some(row) if row.held && row.owner.nonce == me.nonce => (row.fence, row.holder.since),
        Some(row) => (row.fence.saturating_add(1), now),
        None => (1, now),
    };
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO drivers
                 (server_key, held, nonce, pid, host, started, since_ms, heartbeat_ms, fence)
             VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            server.0,
            me.nonce,
            me.process.pid,
            me.process.host,
            me.process.started,
            to_sql(since.0),
            to_sql(now.0),
            to_sql(fence),
        ])?;
    prune(&transaction)?;
    transaction.commit()?;
    Ok(Lease::Mine(fence))
}

/// Who else holds the server, if anybody does; changes nothing.
pub(super) fn held_by_another(
    connection: &mut Connection,
    server: &ServerKey,
    me: &Owner,
    now: Wall,
    stale_after: Duration,
) -> Result<Option<Holder>, StoreError> {
    let found = find(connection, server)?;
    Ok(found
        .filter(|row| row.keeps_out(me, now, stale_after))
        .map(|row| row.holder))
}

pub(super) fn heartbeat(
    connection: &mut Connection,
    server: &ServerKey,
    me: &Owner,
    fence: u64,
    now: Wall,
) -> Result<bool, StoreError> {
    // A heartbeat that a power loss takes back belonged to a process that is gone, too.
    without_sync(connection, |connection| {
        let changed = connection
            .prepare_cached(
                "UPDATE drivers SET heartbeat_ms = ?4
                 WHERE server_key = ?1 AND held = 1 AND nonce = ?2 AND fence = ?3",
            )?
            .execute(params![server.0, me.nonce, to_sql(fence), to_sql(now.0)])?;
        Ok(changed == 1)
    })
}

pub(super) fn release(
    connection: &mut Connection,
    server: &ServerKey,
    me: &Owner,
    fence: u64,
) -> Result<bool, StoreError> {
    let changed = connection
        .prepare_cached(
            "UPDATE drivers SET held = 0
             WHERE server_key = ?1 AND held = 1 AND nonce = ?2 AND fence = ?3",
        )?
        .execute(params![server.0, me.nonce, to_sql(fence)])?;
    Ok(changed == 1)
}

/// A server's row.
struct Driver {
    held: bool,
    owner: Owner,
    holder: Holder,
    fence: u64,
}

impl Driver {
    fn keeps_out(&self, me: &Owner, now: Wall, stale_after: Duration) -> bool {
        // A clock that was set back leaves heartbeats in the future; they are as stale.
        let distance = self.holder.heartbeat.0.abs_diff(now.0);
        self.held
            && self.owner.nonce != me.nonce
            && distance <= millis(stale_after)
            && !self.owner.process.is_gone(&me.process.host)
    }
}

fn find(connection: &Connection, server: &ServerKey) -> rusqlite::Result<Option<Driver>> {
    connection
        .prepare_cached("SELECT * FROM drivers WHERE server_key = ?1")?
        .query_row([&server.0], parse)
        .optional()
}

fn parse(row: &Row<'_>) -> rusqlite::Result<Driver> {
    let pid = row.get("pid")?;
    Ok(Driver {
        held: row.get("held")?,
        owner: Owner {
            nonce: row.get("nonce")?,
            process: Process {
                pid,
                host: row.get("host")?,
                started: row.get("started")?,
            },
        },
        holder: Holder {
            pid,
            since: wall(row, "since_ms")?,
            heartbeat: wall(row, "heartbeat_ms")?,
        },
        fence: from_sql(row.get("fence")?),
    })
}

fn prune(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM drivers WHERE held = 0 AND server_key IN
                 (SELECT server_key FROM drivers ORDER BY held DESC, heartbeat_ms DESC
                  LIMIT -1 OFFSET ?1)",
        )?
        .execute([limit_to_sql(DRIVERS_MAX)])?;
    Ok(())
}

fn is_this_machine(host: &Host<&str>) -> bool {
    let address = match host {
        Host::Domain(name) => return name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => IpAddr::V4(*address),
        Host::Ipv6(address) => IpAddr::V6(*address),
    };
    address.is_loopback() || address.is_unspecified()
}

#[cfg(test)]
mod tests;
