//! The sims of one process behind one HTTP listener: which of them a request is for, and what the
//! process says of all of them.
//!
//! A request names a sim by `?sim=SIM`, or by the address of its page, `/w/SIM`. One that names none is
//! for the first sim of the process. Each sim has routes of its own and answers the pages that it
//! allows, whatever another sim of the process allows.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    future::ready,
    sync::{Arc, OnceLock},
};

use axum::{
    Json, Router,
    extract::{Query as Parameters, Request, State},
    http::Uri,
    response::{IntoResponse as _, Response},
};
use metatopia_transport::{
    figures::HttpFigures,
    http::{Allowed, ErrorAnswer, guarded},
};
use metatopia_types::{Height, SimId};
use serde::{Deserialize, Serialize};
use tower_service::Service as _;

use super::{Node, SourceOffer, routes_of, routes_of_process, routes_with};
use crate::metrics::Metrics;

/// A sim that this process was told to host.
#[derive(Debug, Clone)]
pub struct HostedSim {
    /// What the sim is called.
    pub name: String,
    /// The origins whose pages may talk to the sim.
    pub allowed: Allowed,
    /// What answers for the sim; none if it could not be started.
    pub node: Option<Node>,
    /// Why the sim does not run in this process any more, once it does not.
    pub ended: Arc<OnceLock<String>>,
}

impl HostedSim {
    /// Returns whether the node's loop runs.
    fn is_running(&self) -> bool {
        self.ended.get().is_none() && self.node.as_ref().is_some_and(Node::is_live)
    }
}

/// All sims of a process, and what it answers for all of them.
#[derive(Debug, Clone)]
pub struct HostedSims {
    /// The sims, by their ids.
    pub sims: BTreeMap<SimId, HostedSim>,
    /// The sim that answers requests that name none.
    pub first: SimId,
    /// The metrics of this process.
    pub metrics: Arc<Metrics>,
    /// Where the source of this program is.
    pub source: Arc<SourceOffer>,
}

/// One sim of a process, as `/api/sims` tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimEntry {
    /// The sim, in hexadecimal digits.
    pub sim: String,
    /// What the sim is called.
    pub name: String,
    /// Whether it answers requests that name no sim.
    pub first: bool,
    /// Whether this process runs it.
    pub running: bool,
    /// Why it does not run here any more, if it was not told to stop.
    pub ended: Option<String>,
    /// The last turn that was applied here; `None` if none is known.
    pub height: Option<Height>,
}

/// The answer of `/api/sims`.
#[derive(Debug, Serialize, Deserialize)]
pub struct SimsAnswer {
    /// All sims that this process was told to host.
    pub sims: Vec<SimEntry>,
}

/// Answers with all sims of this process.
pub(super) async fn sims(State(hosted): State<Arc<HostedSims>>) -> Json<SimsAnswer> {
    let entry = |(sim, one): (&SimId, &HostedSim)| SimEntry {
        sim: sim.to_string(),
        name: one.name.clone(),
        first: *sim == hosted.first,
        running: one.is_running(),
        ended: one.ended.get().cloned(),
        height: one.node.as_ref().and_then(Node::height),
    };
    Json(SimsAnswer { sims: hosted.sims.iter().map(entry).collect() })
}

impl HostedSims {
    /// Sets the figures that are known from what each sim published last.
    pub(super) fn update_figures(&self) {
        for (sim, one) in &self.sims {
            let figures = self.metrics.of(*sim);
            figures.node.running.set(one.is_running().into());
            if let Some(node) = &one.node {
                node.update_figures(&figures.node);
            }
        }
    }

    /// Returns the routes of the process, behind which stand those of each sim.
    pub(super) fn into_router(self) -> Router {
        let hosted = Arc::new(self);
        let figures = Arc::clone(&hosted.metrics.http);
        let all = || hosted.sims.values().map(|one| one.allowed.clone());
        let routes = |(sim, one): (&SimId, &HostedSim)| (*sim, SimRoutes::of(*sim, one, &figures));
        let not_hosted = routes_with(Router::new().fallback(not_hosted));
        let table = Arc::new(SimTable {
            sims: hosted.sims.iter().map(routes).collect(),
            first: hosted.first,
            unknown: guarded(all(), not_hosted, Arc::clone(&figures)),
        });
        let own = guarded(all(), routes_of_process(Arc::clone(&hosted)), figures);
        // Behind the guard of the process, because each sim has a guard of its own.
        own.fallback(move |request: Request| {
            let mut chosen = table.choose(&request).clone();
            async move {
                let answered: Result<Response, Infallible> = chosen.call(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
        })
    }
}

/// What answers requests for one sim.
struct SimRoutes {
    /// Answers while the sim runs. Answers for pages always, because a page finds other servers.
    running: Router,
    /// Answers once the sim has ended here.
    gone: Router,
    ended: Arc<OnceLock<String>>,
}

impl SimRoutes {
    fn of(sim: SimId, one: &HostedSim, figures: &Arc<HttpFigures>) -> Self {
        let guard = |routes| guarded([one.allowed.clone()], routes, Arc::clone(figures));
        let (ended, told) = (Arc::clone(&one.ended), Arc::clone(&one.ended));
        let say_why = move || {
            let why = told.get().map_or("it was stopped", String::as_str);
            let answer =
                ErrorAnswer::unavailable(format!("sim {sim} does not run here any more: {why}"));
            ready(answer)
        };
        let gone = guard(routes_with(Router::new().fallback(say_why)));
        let running = match &one.node {
            Some(node) => guard(routes_of(one.allowed.clone(), node.clone())),
            None => gone.clone(),
        };
        Self { running, gone, ended }
    }
}

/// The routes of all sims of a process.
struct SimTable {
    sims: BTreeMap<SimId, SimRoutes>,
    first: SimId,
    /// Answers who names a sim that is not hosted here.
    unknown: Router,
}

impl SimTable {
    /// Returns what answers a request.
    fn choose(&self, request: &Request) -> &Router {
        let path = request.uri().path();
        let named = match sim_parameter(request.uri()) {
            Ok(Some(sim)) if !self.sims.contains_key(&sim) => return &self.unknown,
            Ok(named) => named,
            Err(_) => return &self.unknown,
        };
        // A page of a sim that is not hosted here finds the sim's servers by itself.
        let hosted = |sim: &SimId| self.sims.contains_key(sim);
        let named = named.or_else(|| sim_of_path(path).filter(hosted));
        let routes = &self.sims[&named.unwrap_or(self.first)];
        let is_page = path == "/" || path.starts_with(PAGES);
        if routes.ended.get().is_some() && !is_page { &routes.gone } else { &routes.running }
    }
}

/// How the paths of pages begin; the sim follows.
const PAGES: &str = "/w/";

#[derive(Debug, Deserialize)]
struct SimParameter {
    sim: Option<String>,
}

/// Returns the sim that a request names by `?sim=`, if it names one.
fn sim_parameter(uri: &Uri) -> Result<Option<SimId>, ErrorAnswer> {
    let Parameters(SimParameter { sim }) = Parameters::try_from_uri(uri)
        .map_err(|rejection| ErrorAnswer::bad_request(rejection.body_text()))?;
    let Some(sim) = sim else {
        return Ok(None);
    };
    let wrong = |_| ErrorAnswer::bad_request("`sim` is the id of a sim: 64 hexadecimal digits");
    sim.parse().map(Some).map_err(wrong)
}

fn sim_of_path(path: &str) -> Option<SimId> {
    path.strip_prefix(PAGES)?.parse().ok()
}

/// Says that a request names a sim that is not hosted here, or names it wrongly.
async fn not_hosted(uri: Uri) -> Response {
    match sim_parameter(&uri) {
        Err(wrong) => wrong.into_response(),
        Ok(sim) => {
            let sim = sim.map(|sim| sim.to_string()).unwrap_or_default();
            let message = format!("sim {sim} is not hosted here; /api/sims names those that are");
            ErrorAnswer::not_found(message).into_response()
        }
    }
}

#[cfg(test)]
mod tests;
