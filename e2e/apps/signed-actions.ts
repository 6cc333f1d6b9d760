import type { Page } from 'playwright-core'
import { addVirtualAuthenticator, type Authenticator } from '../fixtures/authenticator.ts'
import type { Person } from '../fixtures/person.ts'

/** Makes the user sign every change in organizations, in each window that opens, with their recovery code. */
export function signActs({ page }: Person, code: string): void {
  // An error here is thrown by the process that runs the test, which then fails.
  page.on('popup', (window) => void signAct(window, code))
}

/**
 * Signs an organization change in a window. The passkeys of tests belong to a tab, so the recovery code unlocks the
 * keys there.
 */
export async function signAct(window: Page, code: string): Promise<void> {
  await readAct(window)
  await press(window, 'sign')
  await press(window, 'use-code')
  await signWithCode(window, code)
}

/** Signs it when the code is requested. */
export async function signWithCode(window: Page, code: string): Promise<void> {
  await window.locator('input[name="recoveryCode"]').fill(code)
  await pressLast(window, 'unlock')
}

/** Cancels it. */
export async function denyAct(window: Page): Promise<void> {
  await pressLast(window, 'deny')
}

/** Waits until it can be signed; returns the virtual authenticator of that window, which is empty. */
export async function readAct(window: Page): Promise<Authenticator> {
  const authenticator = await addVirtualAuthenticator(window, { prf: true })
  await window.locator('[data-action="sign"][aria-disabled="false"]').waitFor()
  return authenticator
}

const press = (window: Page, action: string) => window.locator(`[data-action="${action}"]`).click()

/** Clicks a button that closes a window, which may be gone before the click is reported. */
async function pressLast(window: Page, action: string): Promise<void> {
  const closed = window.waitForEvent('close')
  await Promise.any([press(window, action), closed])
  await closed
}
