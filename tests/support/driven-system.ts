import type { ProviderSettings } from "@workflow/service";
import { startDnsDouble, startOAuthDouble, startOpenAiDouble } from "@workflow/testkit";
import type { OAuthDouble } from "@workflow/testkit";
import { signInEditor } from "./dashboards.ts";
import type { SignedIn } from "./dashboards.ts";
import { startProviderDouble } from "./provider-double.ts";
import type { ProviderDouble } from "./provider-double.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { WholeSystem } from "./whole-system.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };

/**
 * A whole system in which every operation can succeed, and which sends nothing off this machine.
 */
export interface DrivenSystem extends WholeSystem {
  /** A person of acme who may change dashboards. */
  session: SignedIn;
  /** The authorization server of google-mail. */
  oauth: OAuthDouble;
  /** The double of every provider with API keys, and of the API of google-mail. */
  providers: ProviderDouble;
}

/** Starts the system with doubles of everything outside. */
export async function startDrivenSystem(): Promise<DrivenSystem> {
  const [providers, oauth, openai, dns] = await Promise.all([
    startProviderDouble(),
    startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" }),
    startOpenAiDouble(),
    startDnsDouble(() => "NXDOMAIN"),
  ]);
  const mail = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: `${providers.url}/google-mail` };
  const settings = new Map<string, ProviderSettings>(providers.settings);
  const system = await startWholeSystem({
    providers: settings.set("google-mail", mail),
    agents: { openai },
    outbound: { allowPrivate: true, dnsServers: [dns.address] },
  });
  return {
    ...system,
    oauth,
    providers,
    session: await signInEditor(system, system.acme),
    async stop() {
      await system.stop();
      for (const double of [providers, oauth, openai, dns]) await double.close();
    },
  };
}
