import type { Page } from 'playwright-core'
import type { Person } from '../fixtures/person.ts'

/** Presses a button of an organization page, and signs the change that it makes, on the page that follows. */
export async function signChange(person: Pick<Person, 'page' | 'press'>, action: string): Promise<void> {
  await person.press(action)
  await signAct(person.page)
  await returned(person.page, 'done')
}

/** Signs the change that this page shows. The passkey of the tab confirms it. */
export async function signAct(page: Page): Promise<void> {
  await awake(page).click()
}

/** Waits until the change can be signed. */
export async function readAct(page: Page): Promise<void> {
  await awake(page).waitFor()
}

/** Goes back without signing. */
export async function declineAct(page: Page): Promise<void> {
  await page.locator('[data-action="decline"]').click()
  await returned(page, 'declined')
}

/** Waits until the page of organizations says what became of the change. */
export async function returned(page: Page, outcome: 'done' | 'declined' | 'ended' | 'proposed'): Promise<void> {
  // A dialog that opens again has the note too.
  await page.locator(`.returned-act[data-outcome="${outcome}"]`).first().waitFor()
}

/** Signs an invitation or a token; returns the values that the page then shows once, and goes back. */
export async function signForValues(person: Pick<Person, 'page' | 'press'>, action: string): Promise<string[]> {
  await person.press(action)
  await signAct(person.page)
  await person.page.locator('[data-action="result-saved"]').waitFor()
  const values = await person.page.locator('.copies code').allInnerTexts()
  await person.press('result-saved')
  await returned(person.page, 'done')
  return values
}

function awake(page: Page) {
  return page.locator('[data-action="sign"][aria-disabled="false"]')
}
