//! What the user asks of a goal without waiting for the answer: the next wish may come at once.

use goal_core::goal::Status;
use goal_engine::command::{self, Choices, EditRequest, StartRequest};
use goal_engine::ports::Ports;
use goal_engine::{Engine, Error};

use super::facts::{What, Wish};
use super::session::Session;

impl Session {
    /// The user asks for something, in a host whose engine works on this machine, else by a command
    /// without one. What is asked and what is answered are facts of the world.
    pub fn user_wishes(&self, wish: Wish) {
        let session = self.clone();
        let world = self.world().clone();
        let host = world.host();
        let number = host.as_ref().map_or(0, |(number, _)| *number);
        world.notes(Some(number), self.id().as_str(), What::Asked(wish));
        tokio::spawn(async move {
            let answer = match host {
                Some((_, engine)) => session.of_engine(&engine, wish).await,
                None => session.of_command(&world.command(), wish).await,
            };
            let answered = What::Answered(wish, answer.ok());
            world.notes(Some(number), session.id().as_str(), answered);
        });
    }

    async fn of_engine(&self, engine: &Engine, wish: Wish) -> Result<Status, Error> {
        let id = self.id();
        match wish {
            Wish::Pause => engine.pause(id).await.map(|done| done.view),
            Wish::Resume => engine.resume(id, None).await.map(|done| done.view),
            Wish::Edit => engine.edit(self.edit()).await.map(|done| done.view),
            Wish::Complete => engine.complete(id).await.map(|done| done.view),
            Wish::Clear => engine.clear(id).await.map(|done| done.view),
            Wish::Start => engine
                .start_goal(self.another())
                .await
                .map(|done| done.view),
        }
        .map(|view| view.goal.status)
    }

    async fn of_command(&self, ports: &Ports, wish: Wish) -> Result<Status, Error> {
        let id = self.id();
        match wish {
            Wish::Pause => command::pause(ports, id).await.map(|done| done.view),
            Wish::Resume => command::resume(ports, id, None).await.map(|done| done.view),
            Wish::Edit => command::edit(ports, self.edit())
                .await
                .map(|done| done.view),
            Wish::Complete => command::complete(ports, id).await.map(|done| done.view),
            Wish::Clear => command::clear(ports, id).await.map(|done| done.view),
            Wish::Start => command::start(ports, self.another())
                .await
                .map(|done| done.view),
        }
        .map(|view| view.goal.status)
    }

    fn edit(&self) -> EditRequest {
        EditRequest {
            session: self.id().clone(),
            objective: Some("make all the tests pass".to_owned()),
            token_budget: None,
        }
    }

    fn another(&self) -> StartRequest {
        StartRequest {
            session: self.id().clone(),
            objective: "write the manual".to_owned(),
            token_budget: None,
            send: Some(Choices::default()),
            replace: true,
        }
    }
}
