//! Chains such as `state.list[2].push(x)`: all that stands in brackets is computed first, in order, then
//! the value that the chain begins with.

use alloc::{format, vec::Vec};

use super::{Lowering, names::changes};
use crate::{
    host::FUNCTIONS,
    ir::{IrLink, IrLinkKind, IrOp, IrPath},
    lang::tree::{ChainLink, ChainLinkKind, Expression, ExpressionKind, SourcePoint},
};

/// A link whose inner expressions are computed.
enum ReadyLink<'a> {
    Part(IrLink),
    Method { name: &'a str, count: usize, first: u16, link: &'a ChainLink },
}

/// How far a chain is computed: links that are not read yet, behind a register.
struct ChainUnderWay {
    base: u16,
    /// It is a variable, or what stands for the world: writing through it means something.
    pending: Vec<IrLink>,
    /// Jumps to the end, where `?.` met `()`.
    ends: Vec<usize>,
}

impl Lowering {
    pub(super) fn path(&mut self, links: Vec<IrLink>, at: SourcePoint) -> u16 {
        let place = self.tables.path(&mut self.program, IrPath { links });
        self.known(place, at)
    }

    pub(super) fn chain_into(
        &mut self,
        root: &Expression,
        links: &[ChainLink],
        to: u16,
        at: SourcePoint,
    ) {
        let ready = self.ready(root, links, at);
        let base = self.value(root);
        let mut chain = ChainUnderWay { base, pending: Vec::new(), ends: Vec::new() };
        for link in ready {
            match link {
                ReadyLink::Part(link) => chain.pending.push(link),
                ReadyLink::Method { name, count, first, link } => {
                    self.method(&mut chain, name, count, first, link);
                }
            }
        }
        self.read_pending(&mut chain, Some(to), at);
        if chain.base != to {
            let from = chain.base;
            // A variable stays what it is; anything else is not needed any more.
            self.emit(IrOp::Move { to, from }, at);
        }
        self.end_of_chain(&chain.ends, to, at);
    }

    /// Gives a chain that `?.` ends the value `()`.
    fn end_of_chain(&mut self, ends: &[usize], to: u16, at: SourcePoint) {
        if !ends.is_empty() {
            let done = self.jump(IrOp::Jump { target: 0 }, at);
            self.bind(ends, at);
            self.emit(IrOp::Unit { to }, at);
            self.bind(&[done], at);
        }
    }

    /// Computes what stands in brackets.
    fn ready<'a>(
        &mut self,
        root: &Expression,
        links: &'a [ChainLink],
        at: SourcePoint,
    ) -> Vec<ReadyLink<'a>> {
        self.members(root, links);
        let mut ready = Vec::new();
        for link in links {
            ready.push(match &link.kind {
                ChainLinkKind::Property(name) => {
                    let kind = IrLinkKind::Name(self.name(name, link.at));
                    ReadyLink::Part(IrLink {
                        kind,
                        optional: link.optional,
                        at: link.at,
                        sign: link.sign,
                    })
                }
                ChainLinkKind::Index(index) => {
                    let register = self.register(at);
                    self.value_into(index, register);
                    let kind = IrLinkKind::Index(register);
                    ReadyLink::Part(IrLink {
                        kind,
                        optional: link.optional,
                        at: link.at,
                        sign: link.sign,
                    })
                }
                ChainLinkKind::Method { name, arguments } => {
                    // The first is kept free for the value that the method is called on.
                    let first = self.row(arguments.len() + 1, at);
                    for (to, argument) in (first + 1..).zip(arguments) {
                        self.value_into(argument, to);
                    }
                    let count = arguments.len() + 1;
                    ReadyLink::Method { name, count, first, link }
                }
            });
        }
        let changing = links
            .iter()
            .any(|link| matches!(&link.kind, ChainLinkKind::Method { name, .. } if changes(name)));
        if let (true, ExpressionKind::Name(name)) = (changing, &root.kind) {
            self.changeable(name, root.at);
        }
        ready
    }

    fn method(
        &mut self,
        chain: &mut ChainUnderWay,
        name: &str,
        count: usize,
        first: u16,
        link: &ChainLink,
    ) {
        let own = self.functions.keys().any(|(own, _)| own == name);
        let at = link.at;
        if own && !FUNCTIONS.iter().any(|f| f.name == name) {
            let words = format!("{name} is a function of this script: call it as {name}(value)");
            return self.complain(at, words);
        }
        let Some(call) = self.host(name, count, at) else { return };
        if changes(name) {
            if link.optional {
                self.ends_at_unit(chain, at);
            }
            let path = self.path(core::mem::take(&mut chain.pending), at);
            self.emit(IrOp::Method { root: chain.base, path, call, first }, at);
        } else {
            self.read_pending(chain, None, at);
            if link.optional {
                let jump = IrOp::JumpIfUnit { value: chain.base, wanted: true, target: 0 };
                chain.ends.push(self.jump(jump, at));
            }
            self.emit(IrOp::Copy { to: first, from: chain.base }, at);
            self.emit(IrOp::Host { call, first }, at);
        }
        chain.base = first;
    }

    /// Ends the chain if what it leads to so far is `()`, and leaves it to be written to.
    fn ends_at_unit(&mut self, chain: &mut ChainUnderWay, at: SourcePoint) {
        let (base, pending) = (chain.base, chain.pending.clone());
        self.read_pending(chain, None, at);
        let jump = IrOp::JumpIfUnit { value: chain.base, wanted: true, target: 0 };
        chain.ends.push(self.jump(jump, at));
        (chain.base, chain.pending) = (base, pending);
    }

    /// Reads the links that are not read yet; the last one goes to `last`.
    fn read_pending(&mut self, chain: &mut ChainUnderWay, last: Option<u16>, at: SourcePoint) {
        let pending = core::mem::take(&mut chain.pending);
        let count = pending.len();
        for (index, link) in pending.into_iter().enumerate() {
            let of = chain.base;
            if link.optional {
                let jump = IrOp::JumpIfUnit { value: of, wanted: true, target: 0 };
                chain.ends.push(self.jump(jump, link.at));
            }
            let to = match last {
                Some(to) if index + 1 == count => to,
                _ => self.register(at),
            };
            let op = match link.kind {
                IrLinkKind::Name(name) => IrOp::Get { to, of, name },
                IrLinkKind::Index(index) => IrOp::Index { to, of, index },
            };
            self.emit_signed(op, link.at, link.sign);
            chain.base = to;
        }
    }

    /// Computes a chain up to the part that is to be written: a register, and the path behind it.
    pub(super) fn place(
        &mut self,
        root: &Expression,
        links: &[ChainLink],
        at: SourcePoint,
    ) -> (u16, u16) {
        let ready = self.ready(root, links, at);
        if let ExpressionKind::Name(name) = &root.kind {
            self.changeable(name, at);
        }
        let base = self.value(root);
        let mut chain = ChainUnderWay { base, pending: Vec::new(), ends: Vec::new() };
        for link in ready {
            match link {
                ReadyLink::Part(link) => chain.pending.push(link),
                ReadyLink::Method { name, count, first, link } => {
                    self.method(&mut chain, name, count, first, link);
                }
            }
        }
        if !chain.ends.is_empty() {
            self.complain(at, "a call behind ?. cannot be assigned to");
        }
        let path = self.path(chain.pending, at);
        (chain.base, path)
    }
}
