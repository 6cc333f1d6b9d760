import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeCrop, firstCrop, moveCrop, placeOf, zoomMax } from '../crop.ts'

const wide = { width: 400, height: 200 }

test('a person fills the square, and a logo is shown whole', () => {
  assert.deepEqual(placeOf(wide, firstCrop(wide, false), 100), { left: -50, top: 0, width: 200, height: 100 })
  assert.deepEqual(placeOf(wide, firstCrop(wide, true), 100), { left: 0, top: 25, width: 100, height: 50 })
})

test('no edge of a picture gets into the square, however far it is moved', () => {
  const right = moveCrop(wide, firstCrop(wide, false), { x: -9, y: -9 }, false)
  assert.deepEqual(placeOf(wide, right, 100), { left: -100, top: 0, width: 200, height: 100 })
  const left = moveCrop(wide, right, { x: 9, y: 9 }, false)
  assert.deepEqual(placeOf(wide, left, 100), { left: 0, top: 0, width: 200, height: 100 })
})

test('the zoom has limits', () => {
  assert.equal(changeCrop(wide, { x: 0.5, y: 0.5, zoom: 99 }, false).zoom, zoomMax)
  assert.equal(changeCrop(wide, { x: 0.5, y: 0.5, zoom: 0.1 }, false).zoom, 1)
  assert.equal(changeCrop(wide, { x: 0.5, y: 0.5, zoom: 0.1 }, true).zoom, 0.5)
})
