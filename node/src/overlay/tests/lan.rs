//! Members in one local network, which this test makes: a namespace whose only device has an address that
//! is not of loopback. So no other machine hears the calls, and no firewall keeps them back.

use std::process::{Command, Output};

use super::*;

/// Says to the test that it runs in its own network.
const INSIDE: &str = "METATOPIA_TEST_IN_OWN_NETWORK";

/// What makes the network; the test's own program is its first argument.
const NETWORK: &str = "ip link set lo up && ip link set lo multicast on && ip address add 10.78.1.1/24 dev lo \
    && ip route add 224.0.0.0/4 dev lo && exec \"$0\" --exact --nocapture \
    overlay::tests::lan::members_in_one_network_find_each_other_without_an_address";

/// Returns the setup of a member without a site that knows nobody, and calls in its network.
fn caller(n: usize, at: &str) -> MemberSetup {
    let listen = at.parse().unwrap();
    MemberSetup { listen, lan: true, ..trial::without_site(n, &[]) }
}

/// Nobody names anybody here. A member of another world calls as well.
async fn find_each_other() {
    let (_stop, stopped) = watch::channel(false);
    let at = "/ip4/10.78.1.1/tcp/0";
    let mut other = caller(3, at);
    other.config.world = metatopia_types::SimId(metatopia_types::Digest::ZERO);
    let other = start(other, stopped.clone()).await.unwrap();
    let a = start(caller(1, at), stopped.clone()).await.unwrap();
    let b = start(caller(2, at), stopped).await.unwrap();
    until(&a, |view| view.up > 0).await;
    // Whoever met the one of the other world has hung up.
    until(&other, |view| view.up == 0).await;
    for member in [&a, &b] {
        until(member, |view| view.up == 1).await;
    }
}

/// Plays in a network of its own. None says that this machine makes none.
fn in_own_network() -> Option<Output> {
    let may = Command::new("unshare").args(["-Urn", "ip", "link", "set", "lo", "up"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return None;
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("unshare");
    command.args(["-Urn", "sh", "-c", NETWORK]).arg(own).env(INSIDE, "1");
    Some(command.output().unwrap())
}

#[test]
fn members_in_one_network_find_each_other_without_an_address() {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        return runtime.block_on(find_each_other());
    }
    match in_own_network() {
        // A name that fits no test would succeed as well.
        Some(run) => {
            let told = String::from_utf8_lossy(&run.stdout);
            let failed = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && told.contains("1 passed"), "{told}\n{failed}");
        }
        None => eprintln!("SKIPPED: this machine does not permit network namespaces"),
    }
}
