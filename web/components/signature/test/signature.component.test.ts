import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderInPage } from '../../../testing/render.ts'
import { flourish, petals } from '../ornament.ts'

const { Seal, Signature } = await import('../Signature.tsx')

const [key, otherKey] = ['8F3A C41D 77E2 905B', '21B7 09EE 0A3C 55D1']

test('the ornaments of a key are always the same, and those of another key differ', () => {
  assert.equal(flourish(key), flourish(key))
  assert.notEqual(flourish(key), flourish(otherKey))
  assert.deepEqual(petals(key), petals(key))
  assert.notDeepEqual(petals(key), petals(otherKey))
  for (const path of [flourish(key), ...petals(key)]) assert.match(path, /^M[\d. CLZ-]+$/)
})

test('a name has its flourish only when it is signed, and ornaments say nothing to screen readers', async () => {
  const pencil = await renderInPage(() =>
    h(Signature, { name: 'Ada', below: '@ada', isSigned: false, fingerprint: key }),
  )
  assert.doesNotMatch(pencil.find('.signature').className, /signed/)
  assert.equal(document.querySelector('.paraph'), null)
  const signed = await renderInPage(() =>
    h('div', {}, [
      h(Signature, { name: 'Ada', below: '@ada', isSigned: true, fingerprint: key }),
      h(Seal, { fingerprint: key, text: 'COUNTERSIGNED' }),
    ]),
  )
  assert.match(signed.find('.signature').className, /signed/)
  for (const picture of ['.paraph', '.seal', '.signature-cross'])
    assert.equal(signed.find(picture).getAttribute('aria-hidden'), 'true')
  assert.equal(signed.find('.seal textPath').textContent, 'COUNTERSIGNED')
})
