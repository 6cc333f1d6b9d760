import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { untilDrawn, watch } from '../../fixtures/visual-checks.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('each fault would have been detected', async () => {
  const person = await stage.invite({ viewport: { width: 320, height: 740 } })
  const { look, faults } = await watch(person, { language: 'de' })
  await person.page.goto(`${stage.service.authUrl}/login`)
  await person.control('sign-in').waitFor()
  // Only what moves after the page was drawn counts as a shift.
  await person.page.evaluate(untilDrawn)
  await person.page.evaluate(() => {
    reportError(new Error('a message'))
    document.querySelector('main')?.before(Object.assign(document.createElement('img'), { width: 400, height: 90 }))
    document.body.append(Object.assign(document.createElement('script'), { text: 'alert()' }))
    const bar = Object.assign(document.createElement('div'), { textContent: 'a bar' })
    Object.assign(bar.style, { position: 'fixed', inset: 'auto 0 0', height: '200px', background: 'white' })
    document.body.append(bar)
    for (const label of ['one', 'another']) {
      const button = Object.assign(document.createElement('button'), { ariaLabel: label })
      Object.assign(button.style, { display: 'block', width: '12px', height: '12px', padding: 0 })
      document.body.append(button)
    }
  })
  await look('spoiled')
  const expected = [
    /a message/,
    /shifted.*main/i,
    /policy.*script-src/,
    /wider/,
    /language en/,
    /image-alt/,
    /target-size/,
    /target of 12.0 × 12.0 pixels/,
    /at 400 % zoom, it is \d+ pixels wider/,
    /at 400 % zoom, <div style="position: fixed.* covers /,
  ]
  for (const fault of expected)
    assert.ok(
      faults.some((found) => fault.test(found)),
      `${fault} in ${faults.join('\n')}`,
    )
  await person.leave()
})
