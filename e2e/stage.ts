import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { openMailbox } from '../server/testing/mailbox.ts'
import { copyMigrated } from '../server/testing/migrated-database.ts'
import { startNameServer } from '../server/testing/name-server.ts'
import { startService } from '../server/testing/service.ts'
import { invite, type Manner, type Person } from './person.ts'
import { openShop } from './relying-party.ts'

export type Stage = Awaited<ReturnType<typeof openStage>>

/** What a journey needs: the provider as a process, its servers of mail and of names, an app elsewhere, a browser. */
export async function openStage({ environment = {} }: { environment?: Record<string, string> } = {}) {
  const [mailbox, nameServer] = await Promise.all([openMailbox(), startNameServer()])
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@countersign.example>' }
  const dataDirectory = await mkdtemp(join(tmpdir(), 'countersign-'))
  await copyMigrated(dataDirectory)
  const settings = { ...mail, DNS_SERVERS: nameServer.address, ...environment }
  const service = await startService({ environment: settings, dataDirectory })
  const [shop, browser] = await Promise.all([openShop(service), launchBrowser()])
  return {
    service,
    mailbox,
    nameServer,
    shop,
    browser,
    invite: (manner?: Manner) => invite(browser, manner),
    /** Somebody who has made an account, and is looking at it. */
    async enroll(wanted: Parameters<Person['createAccount']>[0]): Promise<Person> {
      const person = await invite(browser)
      await person.page.goto(`${service.authUrl}/register`)
      await person.createAccount(wanted)
      await person.press('confirm-recovery-saved')
      await person.page.waitForURL(/\/account/)
      return person
    },
    async close() {
      await Promise.all([browser.close(), shop.close()])
      await service.close()
      await Promise.all([mailbox.close(), nameServer.close()])
    },
  }
}

export function launchBrowser() {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--disable-gpu', '--disable-quic', '--disable-sync'],
  })
}
