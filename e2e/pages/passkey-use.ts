import type { Person } from '../fixtures/person.ts'

/** Confirms who is signed in: on a slow machine, the last time is longer ago than some acts accept. */
export async function usePasskey({ page, press }: Person, { authUrl }: { authUrl: string }): Promise<void> {
  await page.goto(`${authUrl}/login?prove`)
  await press('prove')
  await page.waitForURL(`${authUrl}/account`)
}
