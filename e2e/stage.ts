import { chromium } from 'playwright-core'
import { startService } from '../server/testing/service.ts'
import { invite, type Manner } from './person.ts'
import { openShop } from './relying-party.ts'

export type Stage = Awaited<ReturnType<typeof openStage>>

/** What a journey needs: the provider as a process, an app on another site that uses it, and a browser. */
export async function openStage() {
  const service = await startService()
  const [shop, browser] = await Promise.all([openShop(service), launchBrowser()])
  return {
    service,
    shop,
    browser,
    invite: (manner?: Manner) => invite(browser, manner),
    async close() {
      await Promise.all([browser.close(), shop.close()])
      await service.close()
    },
  }
}

function launchBrowser() {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--disable-gpu', '--disable-quic', '--disable-sync'],
  })
}
