import type { AfterLogout, LogoutView, Site } from '@countersign/protocol/pages'
import type { AppDirectory, RegisteredApp } from '#clients/registration/app-directory.ts'
import { isRegisteredPostLogout } from '#clients/registration/redirect-uri.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { answerTo } from '#oauth/authorize/answer.ts'
import type { Parameters } from '#oauth/authorize/authorization-request.ts'
import { readIdTokenHint } from '#oauth/authorize/id-token-hint.ts'
import { readLanguages } from '#oauth/authorize/ui-locales.ts'

type Asking = { hint: string; app: RegisteredApp }

/**
 * Reads a logout request (OpenID Connect RP-Initiated Logout §2). Nothing in it is refused: whoever wants to sign out
 * shall, whatever is wrong with what their app sent. But only an ID token of ours tells which app it is that asks, so
 * without one the browser goes nowhere afterwards (§3), and the person is asked before anything happens.
 */
export async function readLogoutRequest(
  { apps, keys, site }: { apps: AppDirectory; keys: SigningKeys; site: Site },
  parameters: Parameters,
): Promise<LogoutView> {
  const asking = await findAsking({ apps, keys, site }, parameters)
  return {
    page: 'logout',
    site,
    languages: readLanguages(parameters['ui_locales']),
    ...(asking && { idTokenHint: asking.hint }),
    after: afterwards(asking, parameters, site),
  }
}

/** The app that sent the person here: the one that the ID token is for, which `client_id` must not contradict. */
async function findAsking(
  { apps, keys, site }: { apps: AppDirectory; keys: SigningKeys; site: Site },
  { id_token_hint: hint, client_id: clientId }: Parameters,
): Promise<Asking | undefined> {
  const hinted = hint === undefined ? undefined : await readIdTokenHint({ keys, issuer: site.authUrl }, hint)
  if (hint === undefined || hinted === undefined) return undefined
  if (clientId !== undefined && clientId !== hinted.clientId) return undefined
  const app = await apps.find(hinted.clientId)
  return app && { hint, app }
}

function afterwards(
  asking: Asking | undefined,
  { post_logout_redirect_uri: uri, state }: Parameters,
  site: Site,
): AfterLogout {
  if (!asking || uri === undefined) return { at: 'here', refused: false }
  if (!isRegisteredPostLogout(asking.app, uri, site)) return { at: 'here', refused: true }
  return { at: 'app', ...answerTo(uri, 'query', { state }) }
}
