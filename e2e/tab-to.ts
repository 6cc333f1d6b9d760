import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'

const pressesMax = 15

/** Goes on with Tab until the element has the focus, which must be seen. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < pressesMax; presses += 1) {
    await target.page().keyboard.press('Tab')
    if (!(await target.evaluate((element) => element === document.activeElement))) continue
    const outline = await target.evaluate((element) => getComputedStyle(element).outlineStyle)
    assert.notEqual(outline, 'none', 'the focus can be seen')
    return
  }
  assert.fail(`${pressesMax} times Tab did not lead to ${target}`)
}
