import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: SigningApp
let person: Person
let identityId: string
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openSigningApp(stage.service)
  person = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  identityId = identities[0]?.identityId ?? ''
})
after(async () => {
  await app.close()
  await stage.close()
})

type Shown = { direction: string; isMarked: boolean; glyphs: { text: string; left: number }[] }

/** Shows a text on the signing page; returns the visual order of the glyphs in each line, and if there is a warning. */
async function show(payload: string): Promise<Shown[]> {
  const { requestId } = await app.ask({ identityId, payload })
  const { page } = person
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await page.locator('.exact-text').waitFor()
  await page.addStyleTag({ content: '.exact-text { white-space: pre !important }' }).catch(() => undefined)
  return page.evaluate(() =>
    [...document.querySelectorAll('.exact-text .line')].map((line) => {
      if (!(line instanceof HTMLElement)) throw new Error('A line is an element')
      line.style.whiteSpace = 'pre'
      const glyphs: Shown['glyphs'] = []
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement?.closest('.line-end, .way, small')) continue
        for (const [index, text] of [...(node.textContent ?? '')].entries()) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + 1)
          glyphs.push({ text, left: range.getBoundingClientRect().left })
        }
      }
      return { direction: line.dir, isMarked: line.querySelector('.odd') !== null, glyphs }
    }),
  )
}

/** The letters and digits of a line that match, in visual order from left to right. */
const fromLeftIn = ({ glyphs }: Shown, requested: RegExp) =>
  glyphs
    .filter(({ text }) => requested.test(text))
    .toSorted((a, b) => a.left - b.left)
    .map(({ text }) => text)
    .join('')

const words = fc.constantFrom(
  ...['Bob', 'owes', 'Alice', 'EUR', '900', '5', '1,000.50', '(', ')', '-', '/', ':', '=', '$', '%'],
  ...['ו', 'ا', 'س', 'א', 'שלום', 'עולם', 'ادفع', 'ريال', 'وו', '٣', '٥٠', '׀', '־', '،', '؟'],
)
const lines = fc
  .array(fc.tuple(words, fc.constantFrom('', ' ', ' ', '  ', '\u00A0')), { minLength: 2, maxLength: 7 })
  .map((pieces) => pieces.flat().join(''))
const latin = /[A-Za-z0-9]/
const turned = /(?=\p{L})[\p{sc=Hebrew}\p{sc=Arabic}]/v
const charactersIn = (text: string, requested: RegExp) => [...text].filter((character) => requested.test(character))
const turnedBack = (text: string) => charactersIn(text, turned).toReversed().join('')

test('SIG-32 the text read from left to right is the signed text, or there is a warning', async () => {
  const signed = fc.sample(lines, 240)
  const shown = await show(signed.join('\n'))
  assert.equal(shown.length, signed.length)
  for (const [index, line] of shown.entries()) {
    const text = signed[index] ?? ''
    if (line.isMarked) continue
    const requested = charactersIn(text, latin).join('')
    if (line.direction === 'ltr') {
      assert.equal(fromLeftIn(line, latin), requested, JSON.stringify(text))
      // Runs of Hebrew and Arabic are read from right to left, and keep their place.
      const phrases = text.split(/[A-Za-z]+/).map(turnedBack)
      assert.equal(fromLeftIn(line, turned), phrases.join(''), JSON.stringify(text))
    } else {
      assert.equal(fromLeftIn(line, turned), turnedBack(text), JSON.stringify(text))
      for (const word of text.match(/[A-Za-z]+|[0-9]+(?:[.,][0-9]+)*/g) ?? [])
        assert.ok(fromLeftIn(line, latin).includes(word.replaceAll(/[.,]/g, '')), JSON.stringify(text))
      // Reading the Latin words from left to right shows that the line is not only Latin.
      const isPlain = charactersIn(text, turned).length > charactersIn(text, /[A-Za-z]/).length
      assert.ok(isPlain || fromLeftIn(line, /[A-Za-z]/) === charactersIn(text, /[A-Za-z]/).join(''), text)
    }
  }
  assert.ok(shown.filter(({ isMarked }) => !isMarked).length > 20, 'some are in order')
})

test('SIG-32 a bar that reverses the line would make Alice owe what Bob does', async () => {
  const payload = ['ו Bob ו owes ו Alice', 'ا Bob ا pays ا Alice ا 900 EUR', 'שלום Bob שלום owes שלום Alice']
  const shown = await show(payload.join('\n'))
  assert.deepEqual(
    shown.map(({ isMarked }) => isMarked),
    [true, true, true],
  )
  assert.deepEqual(
    shown.slice(0, 2).map((line) => fromLeftIn(line, latin)),
    ['BobowesAlice', 'BobpaysAlice900EUR'],
  )
  assert.equal(await person.page.locator('.note.warning li').count(), 2)
})
