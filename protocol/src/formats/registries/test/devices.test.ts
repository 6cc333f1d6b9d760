import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceOf } from '../devices.ts'

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0'
const known: Record<string, [browser: string, system: string]> = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0': ['Firefox', 'Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Safari/537.36`]: ['Chrome', 'Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Safari/537.36 Edg/150.0.0.0`]: ['Edge', 'Windows'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/26.0 Safari/605.1.15`]: ['Safari', 'Mac'],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${webkit} Version/26.0 Mobile/15E148 Safari/604.1`]: [
    'Safari',
    'iPhone',
  ],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${webkit} CriOS/150.0 Mobile/15E148 Safari/604.1`]: [
    'Chrome',
    'iPhone',
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${blink} Mobile Safari/537.36`]: ['Chrome', 'Android'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${blink} SamsungBrowser/28.0 Mobile Safari/537.36`]: [
    'Samsung Internet',
    'Android',
  ],
}
for (const [userAgent, [browser, system]] of Object.entries(known))
  test(`${browser} on ${system} is known by its words: ${userAgent.slice(-40)}`, () => {
    assert.deepEqual(deviceOf(userAgent), { browser, system })
  })

test('what is none of them has no name', () => {
  for (const userAgent of ['', 'curl/8.5.0', 'x'.repeat(300)])
    assert.deepEqual(deviceOf(userAgent), { browser: undefined, system: undefined })
})
