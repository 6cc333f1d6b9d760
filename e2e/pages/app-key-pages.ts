import type { Served } from '../../server/testing/service.ts'
import type { KeyedApp } from '../apps/keyed-app.ts'
import type { Person } from '../fixtures/person.ts'

type Look = (name: string) => Promise<void>
type Given = { service: Served; app: KeyedApp; handle: string; code: string }

/** Connects an app that requests keys, with a passkey that cannot unlock keys, and disconnects it again. */
export async function visitAppKeyPages(
  person: Person,
  { service, app, handle, code }: Given,
  look: Look,
): Promise<void> {
  const { page } = person
  await page.goto(app.signInUrl({ scope: 'openid profile e2ee:asymmetric', login_hint: handle }))
  await person.control('approve').waitFor()
  await look('signin-key-consent')
  await person.press('approve')
  await page.locator('input[name="recoveryCode"]').waitFor()
  await look('signin-key-code')
  await person.press('cancel')
  await person.control('use-code').waitFor()
  await look('signin-key-unlock')
  await person.press('use-code')
  await person.write('recoveryCode', code)
  await person.press('unlock')
  await app.answerIn(page)

  const moved = await app.addRedirectUri('/settings/callback')
  await page.goto(app.signInUrl({ scope: 'openid profile e2ee:asymmetric', login_hint: handle, redirect_uri: moved }))
  await person.press('use-code')
  await person.write('recoveryCode', code)
  await person.press('unlock')
  await person.control('confirm-place').waitFor()
  await look('signin-key-place')

  await page.goto(app.signInUrl({ scope: 'openid profile e2ee:asymmetric e2ee:reset', login_hint: handle }))
  await page.locator('main .note.bad').waitFor()
  await look('signin-key-reset')
  await page.goto(`${service.authUrl}/account/apps`)
  await person.control('revoke').first().click()
  await page.getByRole('dialog').locator('.problem').waitFor()
  await look('account-revoke-key')
  await person.press('revoke')
  await page.locator('main .lead').waitFor()
}
