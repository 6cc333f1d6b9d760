import { spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { actIn, waitMilliseconds } from './firefox-user.ts'
import { connectMarionette, type Marionette } from './marionette.ts'

/** Firefox contacts no other service, and its authenticators are virtual. */
const preferences = {
  'marionette.port': 0,
  'browser.dom.window.dump.enabled': true,
  'browser.shell.checkDefaultBrowser': false,
  'app.normandy.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
  'security.webauth.webauthn_enable_softtoken': true,
  'security.webauth.webauthn_enable_usbtoken': false,
  'intl.accept_languages': 'en-GB, en',
}

const startMilliseconds = 30_000

export type Firefox = Awaited<ReturnType<typeof launchFirefox>>

/** Starts Firefox without a window. The returned functions are what a user does and sees in the current tab. */
export async function launchFirefox() {
  const profile = await mkdtemp(join(tmpdir(), 'countersign-firefox-'))
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`)
  await writeFile(join(profile, 'user.js'), lines.join('\n'))
  const { port, ended } = await start(profile)
  const marionette = await connectMarionette(port)
  const { send } = marionette
  await send('WebDriver:NewSession', {})
  await send('WebDriver:SetTimeouts', { script: waitMilliseconds, pageLoad: waitMilliseconds })
  let authenticatorId = await addAuthenticator(marionette)

  return {
    ...actIn(marionette),
    /** Lets another user continue: in a private window, which knows no session, with their own authenticator. */
    async changeUser() {
      const { handle } = await send('WebDriver:NewWindow', { type: 'window', private: true })
      await send('WebDriver:SwitchToWindow', { handle })
      await send('WebAuthn:RemoveVirtualAuthenticator', { authenticatorId })
      authenticatorId = await addAuthenticator(marionette)
    },
    /** Returns what Firefox has reported about our pages since the last call: errors of scripts, refused contents. */
    async takeErrors(): Promise<string[]> {
      await send('Marionette:SetContext', { value: 'chrome' })
      const { value } = await send('WebDriver:ExecuteScript', { script: takeErrorMessages, args: [] })
      await send('Marionette:SetContext', { value: 'content' })
      return Array.isArray(value) ? value.map(String) : []
    },
    async close() {
      await send('Marionette:Quit', { flags: ['eForceQuit'] })
      await marionette.close()
      await ended
      await rm(profile, { recursive: true })
    },
  }
}

/** Starts the process; returns its port when it listens. */
async function start(profile: string) {
  const flags = ['--headless', '--marionette', '--remote-allow-system-access', '--no-remote', '--profile', profile]
  const firefox = spawn(process.env['FIREFOX'] ?? 'firefox-esr', flags, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, HOME: profile },
  })
  process.once('exit', () => firefox.kill('SIGKILL'))
  const ended = once(firefox, 'close')
  const lines = createInterface({ input: firefox.stdout })
  for await (const [line] of on(lines, 'line', { signal: AbortSignal.timeout(startMilliseconds), close: ['close'] })) {
    const port = /Marionette\s.*Listening on port (\d+)/.exec(line)?.[1]
    if (port !== undefined) return { port: Number(port), ended }
  }
  throw new Error('Firefox ended before it listened')
}

/** Adds an authenticator that verifies the user and confirms each request without a dialog. */
async function addAuthenticator({ send }: Marionette): Promise<string> {
  const added = await send('WebAuthn:AddVirtualAuthenticator', {
    protocol: 'ctap2_1',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    isUserConsenting: true,
    extensions: ['prf'],
  })
  return added.value
}

/** Runs in Firefox itself, which records the errors of all pages, also those before a script could listen. */
const takeErrorMessages = `
  const messages = Services.console.getMessageArray()
  Services.console.reset()
  return messages
    .filter((each) => each instanceof Ci.nsIScriptError && !(each.flags & Ci.nsIScriptError.warningFlag))
    .filter(({ sourceName }) => /^https?:/.test(sourceName))
    .map(({ errorMessage, sourceName }) => sourceName + ': ' + errorMessage)
`
