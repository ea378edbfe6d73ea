//! A panel's tray: it knows the items that apps put there, reads their menus and presses on them.
//!
//! An item is a `StatusNotifierItem` of the session bus; its menu is a `com.canonical.dbusmenu`.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::watch;
use zbus::message::Header;
use zbus::{Connection, Message, OwnedVariant, Variant, connection, fdo, interface};

use crate::error::Error;

const NAME: &str = "org.kde.StatusNotifierWatcher";
const OBJECT: &str = "/StatusNotifierWatcher";
const ITEM: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Where an item is if it names its bus name alone.
const ITEM_OBJECT: &str = "/StatusNotifierItem";

/// The tray of a bus.
pub struct Tray {
    connection: Connection,
    items: watch::Receiver<Vec<Item>>,
}

/// Where an app's item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    owner: String,
    path: String,
}

/// A line of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    id: i32,
    /// What it says; empty: it parts the lines above from those below.
    pub label: String,
    /// It can be pressed.
    pub enabled: bool,
}

impl Tray {
    /// A tray on the bus at `address`. Apps look for it when they start.
    ///
    /// # Errors
    /// If the bus cannot be reached.
    pub async fn start(address: &str) -> Result<Self, Error> {
        let (sender, items) = watch::channel(Vec::new());
        let connection = connection::Builder::address(address)
            .serve_at(OBJECT, Watcher { items: sender })
            .name(NAME)
            .build()
            .await
            .map_err(|error| broken("the bus", &error))?;
        Ok(Self { connection, items })
    }

    /// The newest item that was put here.
    ///
    /// # Errors
    /// If there is none within `patience`.
    pub async fn item(&self, patience: Duration) -> Result<Item, Error> {
        let mut items = self.items.clone();
        let some = items.wait_for(|items| !items.is_empty());
        let found = tokio::time::timeout(patience, some).await;
        let found = found.ok().and_then(Result::ok);
        found
            .and_then(|items| items.last().cloned())
            .ok_or_else(|| broken("the tray", &"no app put anything there in time"))
    }

    /// The lines of an item's menu, from above.
    ///
    /// # Errors
    /// If the app does not give it.
    pub async fn menu(&self, item: &Item) -> Result<Vec<Line>, Error> {
        let read = async {
            let path = self.menu_path(item).await?;
            let all_levels = -1_i32;
            let question = (0_i32, all_levels, Vec::<&str>::new());
            let answer = self.call(item, &path, MENU, "GetLayout", &question).await?;
            let (_revision, layout): (u32, Layout) = answer.body().deserialize()?;
            let lines = layout.2.into_iter().map(|line| {
                let (id, facts, _) = Layout::try_from(line)?;
                Ok(Line::of(id, &facts))
            });
            lines.collect::<zbus::Result<Vec<Line>>>()
        };
        read.await
            .map_err(|error| broken("the tray's menu", &error))
    }

    /// Presses on a line of an item's menu.
    ///
    /// # Errors
    /// If the app does not take it.
    pub async fn press(&self, item: &Item, line: &Line) -> Result<(), Error> {
        let pressed = async {
            let path = self.menu_path(item).await?;
            let now = 0_u32;
            let event = (line.id, "clicked", Variant::from(0_i32), now);
            self.call(item, &path, MENU, "Event", &event).await
        };
        let pressed = pressed.await.map(drop);
        pressed.map_err(|error| broken("a press in the tray's menu", &error))
    }

    async fn menu_path(&self, item: &Item) -> zbus::Result<String> {
        let question = (ITEM, "Menu");
        let answer = self
            .call(item, &item.path, PROPERTIES, "Get", &question)
            .await?;
        let path: OwnedVariant = answer.body().deserialize()?;
        Ok(zbus::ObjectPath::try_from(path)?.as_str().to_owned())
    }

    async fn call<B>(
        &self,
        item: &Item,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> zbus::Result<Message>
    where
        B: serde::Serialize + zbus::Type,
    {
        self.connection
            .call_method(
                Some(item.owner.as_str()),
                path,
                Some(interface),
                method,
                body,
            )
            .await
    }
}

/// A menu's line with what stands below it, as the bus has it.
type Layout = (i32, HashMap<String, OwnedVariant>, Vec<OwnedVariant>);

impl Line {
    fn of(id: i32, facts: &HashMap<String, OwnedVariant>) -> Self {
        let label = facts.get("label");
        let label = label.and_then(|label| label.downcast_ref::<String>().ok());
        let enabled = facts.get("enabled");
        let enabled = enabled.and_then(|enabled| enabled.downcast_ref::<bool>().ok());
        Self {
            id,
            // An underscore marks the key that presses the line; two are one.
            label: label.unwrap_or_default().replacen('_', "", 1),
            enabled: enabled.unwrap_or(true),
        }
    }
}

struct Watcher {
    items: watch::Sender<Vec<Item>>,
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(
        &self,
        service: String,
        #[zbus(header)] header: Header<'_>,
    ) -> fdo::Result<()> {
        let sender = header.sender().map(ToString::to_string);
        let sender = sender.ok_or_else(|| fdo::Error::Failed("nobody said it".to_owned()))?;
        let item = if service.starts_with('/') {
            Item {
                owner: sender,
                path: service,
            }
        } else {
            Item {
                owner: service,
                path: ITEM_OBJECT.to_owned(),
            }
        };
        self.items.send_modify(|items| items.push(item));
        Ok(())
    }

    fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        let items = self.items.borrow();
        let names = items
            .iter()
            .map(|item| format!("{}{}", item.owner, item.path));
        names.collect()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

fn broken(what: &'static str, error: &dyn std::fmt::Display) -> Error {
    Error::Bus {
        what,
        reason: error.to_string(),
    }
}
