import { chromium } from 'playwright-core'
import { openMailbox } from '../server/testing/mailbox.ts'
import { startNameServer } from '../server/testing/name-server.ts'
import { serveHere } from '../server/testing/service-here.ts'
import { startService, type Served } from '../server/testing/service.ts'
import { invite, type Manner, type Person } from './person.ts'
import { openShop } from './relying-party.ts'

export type Stage = Awaited<ReturnType<typeof openStage>>
export type ProcessStage = Awaited<ReturnType<typeof openStageWithProcess>>

type Environment = Record<string, string>

/** What a journey needs: the provider, its servers of mail and of names, an app elsewhere, a browser. */
export function openStage(environment?: Environment) {
  return setStage(serveHere, environment)
}

/** The same with a browser that has the dialogs of its own, by which it signs people in itself (FedCM). */
export function openFederatedStage(environment?: Environment) {
  return setStage(serveHere, environment, launchWholeBrowser)
}

/** The same with the provider as a process, for a journey that ends it, reads its log or loads something before it. */
export function openStageWithProcess(environment?: Environment) {
  return setStage((settings) => startService({ environment: settings }), environment)
}

async function setStage<Kind extends Served>(
  serve: (settings: Environment) => Promise<Kind>,
  environment = {},
  launch = launchBrowser,
) {
  const [mailbox, nameServer] = await Promise.all([openMailbox(), startNameServer()])
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@countersign.example>' }
  const service = await serve({ ...mail, DNS_SERVERS: nameServer.address, ...environment })
  const [shop, browser] = await Promise.all([openShop(service), launch()])
  return {
    service,
    mailbox,
    nameServer,
    shop,
    browser,
    invite: (manner?: Manner) => invite(browser, manner),
    /** Somebody who has made an account, with their recovery code, and is looking at it. */
    async enroll(wanted: Parameters<Person['createAccount']>[0]): Promise<Person & { code: string }> {
      const person = await invite(browser)
      await person.page.goto(`${service.authUrl}/register`)
      const code = await person.createAccount(wanted)
      await person.press('confirm-recovery-saved')
      await person.page.waitForURL(/\/account/)
      return { ...person, code }
    },
    async close() {
      await Promise.all([browser.close(), shop.close()])
      await service.close()
      await Promise.all([mailbox.close(), nameServer.close()])
    },
  }
}

/** The pages of all people are drawn by one process: to start another for each site takes longer than to show it. */
const inFewProcesses = ['--disable-site-isolation-trials', '--renderer-process-limit=1', '--in-process-gpu']

/** It shows no dialogs of its own, and says so: apps send its people to the page to sign in. */
export function launchBrowser() {
  return launchFrom(process.env['CHROMIUM'] ?? '/usr/bin/chromium', ['--disable-blink-features=FedCm'])
}

function launchWholeBrowser() {
  return launchFrom(process.env['WHOLE_CHROMIUM'] ?? '/usr/bin/chromium')
}

/** The same with a profile in a folder, as people have one: in a private window a browser signs nobody in by itself. */
export function launchWithProfile(folder: string) {
  const args = ['--disable-gpu', '--disable-quic', '--disable-sync', ...inFewProcesses]
  const executablePath = process.env['WHOLE_CHROMIUM'] ?? '/usr/bin/chromium'
  return chromium.launchPersistentContext(folder, { executablePath, args, locale: 'en-GB' })
}

function launchFrom(executablePath: string, without: string[] = []) {
  return chromium.launch({
    executablePath,
    args: ['--disable-gpu', '--disable-quic', '--disable-sync', ...inFewProcesses, ...without],
  })
}
