import { styleText } from 'node:util'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { promptText, isInteractive, printJson, printTable } from '../terminal.ts'
import { collect } from '../options/values.ts'
import { addSettingOptions, settingFieldsOf, type SettingOptions } from './options.ts'
import { fieldsOf } from './list.ts'

type Options = SettingOptions & {
  name?: string
  redirectUri?: string[]
  postLogoutRedirectUri?: string[]
  public?: true
}

export function addCreate(apps: Command): void {
  const create = apps
    .command('create')
    .description('register an app; prints its secret once')
    .option('--name <name>', 'name that users see when they sign in')
    .option('--redirect-uri <uri>', 'redirect URI (repeatable)', collect)
    .option('--post-logout-redirect-uri <uri>', 'post-logout redirect URI (repeatable)', collect)
    .option('--public', 'public client without a secret (browser, mobile, desktop)')
  addSettingOptions(create).action(async (options: Options, command: Command) => {
    const settings = settingsOf(command)
    const app = await call(settings, 'POST /api/admin/apps', { body: await newApp(options, settings, command) })
    if (settings.json) return printJson(app)

    const { clientSecret } = app
    printTable([...fieldsOf(app), ...(clientSecret ? [['Client secret', clientSecret]] : [])])
    if (clientSecret) console.log(styleText('yellow', '\nStore the client secret now. It will not be shown again.'))
  })
}

/** Returns the app to register. Prompts for missing required values in a terminal, and throws otherwise. */
async function newApp(options: Options, settings: Settings, command: Command): Promise<NewApp> {
  const { name, redirectUri, postLogoutRedirectUri } = options
  if ((!name || !redirectUri) && !isInteractive(settings))
    command.error('error: --name and --redirect-uri are required')

  return {
    ...settingFieldsOf(options),
    name: name ?? (await promptText({ message: 'Name of the app', validate: refuseEmpty })),
    redirectUris: redirectUri ?? [await promptText({ message: 'Redirect URI', validate: refuseNoUrl })],
    ...(postLogoutRedirectUri ? { postLogoutRedirectUris: postLogoutRedirectUri } : {}),
    ...(options.public ? { public: true } : {}),
  }
}

function refuseEmpty(text = ''): string | undefined {
  return text.trim() === '' ? 'An app needs a name that users see when they sign in' : undefined
}

function refuseNoUrl(text = ''): string | undefined {
  return URL.canParse(text) ? undefined : 'An absolute URL, such as https://app.example/callback'
}
