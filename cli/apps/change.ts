import type { AppChange } from '@countersign/protocol/clients/apps'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { collect } from '../options/values.ts'
import { addSettingOptions, settingFieldsOf, type SettingOptions } from './options.ts'
import { fieldsOf } from './list.ts'

type Options = SettingOptions & {
  name?: string
  redirectUri?: string[]
  addRedirectUri?: string[]
  removeRedirectUri?: string[]
  postLogoutRedirectUri?: string[]
  addPostLogoutRedirectUri?: string[]
  removePostLogoutRedirectUri?: string[]
}

export function addChange(apps: Command): void {
  const change = apps
    .command('change')
    .description('change the given settings of an app, and keep the others')
    .argument('<clientId>')
    .option('--name <name>', 'name that users see when they sign in')
  for (const kind of ['redirect', 'post-logout-redirect'])
    change
      .option(`--${kind}-uri <uri>`, `replaces all ${kind} URIs (repeatable)`, collect)
      .option(`--add-${kind}-uri <uri>`, `adds a ${kind} URI (repeatable)`, collect)
      .option(`--remove-${kind}-uri <uri>`, `removes a ${kind} URI (repeatable)`, collect)
  addSettingOptions(change).action(async (clientId: string, options: Options, command: Command) => {
    const settings = settingsOf(command)
    const { body, version } = await changeOf(clientId, options, settings, command)
    if (Object.keys(body).length === 0) command.error('error: no change given; --help lists the options')
    const headers = version === undefined ? {} : { 'if-match': `"${version}"` }
    const app = await call(settings, 'PATCH /api/admin/apps/:clientId', { params: { clientId }, headers, body })
    if (settings.json) return printJson(app)
    printTable(fieldsOf(app))
  })
}

type Change = { body: AppChange; version: string | undefined }

/** Returns a change, and the version on which it is based if it adds or removes something. */
async function changeOf(clientId: string, options: Options, settings: Settings, command: Command): Promise<Change> {
  const { name, redirectUri, addRedirectUri, removeRedirectUri } = options
  const { postLogoutRedirectUri, addPostLogoutRedirectUri, removePostLogoutRedirectUri } = options
  const redirects = { to: redirectUri, add: addRedirectUri, remove: removeRedirectUri }
  const postLogout = {
    to: postLogoutRedirectUri,
    add: addPostLogoutRedirectUri,
    remove: removePostLogoutRedirectUri,
  }
  const isRelative = [redirects, postLogout].some(({ add, remove }) => add ?? remove)
  // Only additions and removals need the current settings.
  const app = isRelative
    ? await call(settings, 'GET /api/admin/apps/:clientId', { params: { clientId } })
    : { version: undefined, redirectUris: [], postLogoutRedirectUris: [] }
  const redirectUris = urisAfter(app.redirectUris, redirects, command)
  const postLogoutRedirectUris = urisAfter(app.postLogoutRedirectUris, postLogout, command)
  const body = {
    ...settingFieldsOf(options),
    ...(name !== undefined && { name }),
    ...(redirectUris && { redirectUris }),
    ...(postLogoutRedirectUris && { postLogoutRedirectUris }),
  }
  return { body, version: app.version }
}

type UriOptions = { to: string[] | undefined; add: string[] | undefined; remove: string[] | undefined }

/** Returns the URIs after a change, without duplicates; undefined if no change was given. */
function urisAfter(before: string[], { to, add, remove }: UriOptions, command: Command): string[] | undefined {
  if (!to && !add && !remove) return undefined
  if (to && (add ?? remove)) command.error('error: replace the URIs, or add and remove some; not both')
  if (to) return [...new Set(to.filter((uri) => uri !== ''))]
  const missing = (remove ?? []).find((uri) => !before.includes(uri))
  if (missing !== undefined) command.error(`error: ${missing} is not registered, so it cannot be removed`)
  return [...new Set([...before, ...(add ?? [])])].filter((uri) => !(remove ?? []).includes(uri))
}
