// The page of an attempt: waits until the account is connected, then goes on.
const POLL_MS = 2_000;
const POLL_AFTER_FAILURE_MS = 10_000;

const text = document.getElementById("text");
const link = document.getElementById("link");

link.addEventListener("click", () => {
  text.textContent = "Connect the account in the other tab. This page goes on by itself.";
});

async function ask() {
  const response = await fetch(`${location.pathname}/status`, { cache: "no-store" });
  if (!response.ok) return POLL_AFTER_FAILURE_MS;
  const { data } = await response.json();
  if (data.next !== null) {
    text.textContent = "The account is connected.";
    location.replace(data.next);
    return null;
  }
  if (data.state !== "over") return POLL_MS;
  text.textContent = "This attempt to connect the account is over. Please begin anew.";
  link.hidden = true;
  return null;
}

async function poll() {
  const pauseMs = await ask().catch(() => POLL_AFTER_FAILURE_MS);
  if (pauseMs !== null) setTimeout(poll, pauseMs);
}

void poll();
