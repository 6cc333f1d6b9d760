import type { LogoutView, PostLogoutRedirect, Site } from '@countersign/protocol/pages'
import type { AppDirectory, RegisteredApp } from '#clients/registration/directory.ts'
import { isRegisteredPostLogoutRedirectUri } from '#clients/registration/settings.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { buildAuthorizationResponse, parseUiLocales } from '#oauth/authorize/parameters.ts'
import { parseIdTokenHint } from '#oauth/id-token-hint.ts'

type Parameters = Record<string, string>
type LogoutHintInput = { hint: string; app: RegisteredApp }

/**
 * Parses a logout request (OpenID Connect RP-Initiated Logout §2).
 *
 * Nothing in it is rejected: users can always sign out, whatever is wrong with the app's request. A repeated parameter
 * counts as none. Only an ID token of ours identifies the requesting app. Without one, the browser is not redirected
 * afterwards (§3), and the user is asked first.
 */
export async function parseLogoutRequest(
  { apps, keys, site }: { apps: AppDirectory; keys: SigningKeys; site: Site },
  parameters: Parameters,
): Promise<LogoutView> {
  const asking = await findAsking({ apps, keys, site }, parameters)
  return {
    page: 'logout',
    site,
    languages: parseUiLocales(parameters['ui_locales']),
    ...(asking && { idTokenHint: asking.hint }),
    after: afterwards(asking, parameters, site),
  }
}

/** Finds the app that requested the logout: the audience of the ID token, which `client_id` must not contradict. */
async function findAsking(
  { apps, keys, site }: { apps: AppDirectory; keys: SigningKeys; site: Site },
  { id_token_hint: hint, client_id: clientId }: Parameters,
): Promise<LogoutHintInput | undefined> {
  const hinted = hint === undefined ? undefined : await parseIdTokenHint({ keys, issuer: site.authUrl }, hint)
  if (hint === undefined || hinted === undefined) return undefined
  if (clientId !== undefined && clientId !== hinted.clientId) return undefined
  const app = await apps.find(hinted.clientId)
  return app && { hint, app }
}

function afterwards(
  asking: LogoutHintInput | undefined,
  { post_logout_redirect_uri: uri, state }: Parameters,
  site: Site,
): PostLogoutRedirect {
  if (!asking || uri === undefined) return { at: 'here', refused: false }
  if (!isRegisteredPostLogoutRedirectUri(asking.app, uri, site)) return { at: 'here', refused: true }
  return { at: 'app', ...buildAuthorizationResponse(uri, 'query', { state }) }
}
