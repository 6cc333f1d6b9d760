import { styleText } from 'node:util'
import type { NewApp } from '@countersign/protocol/clients/apps'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { askText, mayAsk, printJson, printTable } from '../terminal.ts'
import { addSettingOptions, collect, settingFieldsOf, type SettingOptions } from './options.ts'
import { fieldsOf } from './show.ts'

type Options = SettingOptions & {
  name?: string
  redirectUri?: string[]
  postLogoutRedirectUri?: string[]
  public?: true
}

export function addCreate(apps: Command): void {
  const create = apps
    .command('create')
    .description('register an app; its secret is shown this once')
    .option('--name <name>', 'what people see when they sign in')
    .option('--redirect-uri <uri>', 'where they return to; give it once for each', collect)
    .option('--post-logout-redirect-uri <uri>', 'where they go who sign out; give it once for each', collect)
    .option('--public', 'it runs where it cannot keep a secret (browser, phone)')
  addSettingOptions(create).action(async (options: Options, command: Command) => {
    const settings = settingsOf(command)
    const app = await call(settings, 'POST /api/admin/apps', { body: await newApp(options, settings, command) })
    if (settings.json) return printJson(app)

    const { clientSecret } = app
    printTable([...fieldsOf(app), ...(clientSecret ? [['Client secret', clientSecret]] : [])])
    if (clientSecret) console.log(styleText('yellow', '\nThe secret is shown this once: store it now.'))
  })
}

/** The app to register. What is required and missing is asked for, or refused where nobody can be asked. */
async function newApp(options: Options, settings: Settings, command: Command): Promise<NewApp> {
  const { name, redirectUri, postLogoutRedirectUri } = options
  if ((!name || !redirectUri) && !mayAsk(settings)) command.error('error: --name and --redirect-uri are required')

  return {
    ...settingFieldsOf(options),
    name: name ?? (await askText({ message: 'Name of the app', validate: refuseEmpty })),
    redirectUris: redirectUri ?? [await askText({ message: 'Redirect URI', validate: refuseNoUrl })],
    ...(postLogoutRedirectUri ? { postLogoutRedirectUris: postLogoutRedirectUri } : {}),
    ...(options.public ? { public: true } : {}),
  }
}

function refuseEmpty(text = ''): string | undefined {
  return text.trim() === '' ? 'People must see what they sign in to' : undefined
}

function refuseNoUrl(text = ''): string | undefined {
  return URL.canParse(text) ? undefined : 'An absolute URL, such as https://app.example/callback'
}
