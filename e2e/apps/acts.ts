import type { Page } from 'playwright-core'
import { plugInAuthenticator, type Authenticator } from '../fixtures/authenticator.ts'
import type { Person } from '../fixtures/person.ts'

/** Has somebody sign whatever they do in organizations, in each window that comes, with their recovery code. */
export function signActs({ page }: Person, code: string): void {
  // What fails here is thrown by whatever process runs the test, which fails with it.
  page.on('popup', (window) => void signAct(window, code))
}

/**
 * Signs in a window what somebody does in an organization. The passkeys of tests belong to a tab, so it is the code
 * that opens the key there.
 */
export async function signAct(window: Page, code: string): Promise<void> {
  await readAct(window)
  await press(window, 'sign')
  await press(window, 'use-code')
  await signWithCode(window, code)
}

/** Signs it where the code is asked for. */
export async function signWithCode(window: Page, code: string): Promise<void> {
  await window.locator('input[name="recoveryCode"]').fill(code)
  await pressLast(window, 'unlock')
}

/** Turns back from it. */
export async function denyAct(window: Page): Promise<void> {
  await pressLast(window, 'deny')
}

/** Waits until it is there to be decided; answers the passkey provider of that window, which is empty. */
export async function readAct(window: Page): Promise<Authenticator> {
  const authenticator = await plugInAuthenticator(window, { prf: true })
  await window.locator('[data-action="sign"][aria-disabled="false"]').waitFor()
  return authenticator
}

const press = (window: Page, action: string) => window.locator(`[data-action="${action}"]`).click()

/** Presses what closes a window, which may be gone before it has told that it was pressed. */
async function pressLast(window: Page, action: string): Promise<void> {
  const closed = window.waitForEvent('close')
  await Promise.any([press(window, action), closed])
  await closed
}
