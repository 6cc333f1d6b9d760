import { readFileSync } from 'node:fs'
import type { UserManager } from 'oidc-client-ts'
import type { Served } from '../../server/testing/service.ts'
import { openSite } from './site.ts'

export type Manager = UserManager

const library = new URL('../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url)

/** A public single-page app with unmodified `oidc-client-ts`, without a server of its own. */
export async function openSinglePage(service: Served) {
  const site = await openSite(service, 'single-page', { public: true })
  const { clientId } = await site.register('/', { postLogoutRedirectUris: [`${site.origin}/?left`] })
  const settings = {
    authority: service.authUrl,
    client_id: clientId,
    redirect_uri: `${site.origin}/`,
    popup_redirect_uri: `${site.origin}/`,
    post_logout_redirect_uri: `${site.origin}/?left`,
    scope: 'openid profile offline_access',
    loadUserInfo: true,
  }
  const page = `<!doctype html><html lang="en"><title>Single page</title><p id="greeting"></p>
    <script src="/oidc-client-ts.js"></script>
    <script>
      globalThis.manager = new oidc.UserManager(${JSON.stringify(settings)})
      if (location.search.includes('state='))
        manager.signinCallback().then((user) => {
          // In a popup, the library has sent the response to the page that opened it.
          if (user === undefined) return
          history.replaceState(null, '', '/')
          const name = document.createElement('strong')
          name.id = 'name'
          name.textContent = user.profile.name
          document.getElementById('greeting').append(name)
        })
    </script></html>`
  site.serve(({ url }, response) => {
    if (url !== '/oidc-client-ts.js') return response.setHeader('content-type', 'text/html').end(page)
    return response.setHeader('content-type', 'text/javascript').end(readFileSync(library))
  })
  return site
}
