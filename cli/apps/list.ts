import type { App } from '@countersign/protocol/clients/apps'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addList(apps: Command): void {
  apps
    .command('list')
    .description('list the apps')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found: App[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await call(settings, 'GET /api/admin/apps', { querystring: cursor ? { cursor } : {} })
        found.push(...page.apps)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ apps: found })
      if (found.length === 0) return console.log('No apps yet: countersign apps create')

      const rows = found.map(({ clientId, name, public: isPublic, status, access, createdAt }) => {
        return [clientId, name, isPublic ? 'public' : 'confidential', status, access.mode, createdAt]
      })
      printTable([['Client ID', 'Name', 'Kind', 'Status', 'Access', 'Created'], ...rows])
    })
}

export function addShow(apps: Command): void {
  apps
    .command('show')
    .description('show an app')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const app = await call(settings, 'GET /api/admin/apps/:clientId', { params: { clientId } })
      if (settings.json) return printJson(app)
      printTable(fieldsOf(app))
    })
}

/** Returns an app as rows of name and value, without absent settings. */
export function fieldsOf(app: App): string[][] {
  const rows: [string, string | null][] = [
    ['Name', app.name],
    ['Client ID', app.clientId],
    ['Kind', app.public ? 'public' : 'confidential'],
    ['Status', app.status],
    ['Owner', app.ownerIdentityId],
    ...app.redirectUris.map((uri): [string, string] => ['Redirect URI', uri]),
    ...app.postLogoutRedirectUris.map((uri): [string, string] => ['Post-logout redirect URI', uri]),
    ['Scopes', app.allowedScopes.join(' ')],
    ['End-to-end encryption', app.supportsE2ee ? 'yes' : null],
    ['Key of its server', app.appKeyRecipientJwk],
    ['ID tokens', app.idTokenSignedResponseAlg],
    ['Access tokens', `${app.accessTokenTtlSeconds} s`],
    ['Refresh tokens', `${app.refreshTokenTtlSeconds} s`],
    ['auth_time', app.requireAuthTime ? 'always' : null],
    ['Claims in ID tokens', app.idTokenClaims ? null : 'no'],
    ['Required claims', app.requiredClaims.length > 0 ? app.requiredClaims.join(' ') : null],
    ['Organizations', app.organizationAccess],
    ['Back-channel logout URI', app.backchannelLogoutUri],
    ['Back-channel logout', app.backchannelLogoutSessionRequired ? 'needs sid' : null],
    ['Loopback ports', app.allowAnyLoopbackPort ? 'any' : null],
    ['Access', app.access.mode],
    ['Groups', app.access.groups.length > 0 ? app.access.groups.join(' ') : null],
    ['Of organizations', app.access.organizations.length > 0 ? app.access.organizations.join(' ') : null],
    ['Contact for access', app.access.contact],
    ['Groups in claims', app.groupsClaim.include],
    ['Description', app.description],
    ['Icon', app.iconUrl],
    ['Website', app.websiteUrl],
    ['Privacy', app.privacyUrl],
    ['Terms', app.termsUrl],
    ['Created', app.createdAt],
    ['Changed', app.updatedAt],
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
}
