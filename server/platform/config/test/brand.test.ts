import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { accentOf, contrast } from '@countersign/protocol/formats/looks/accent'
import { ConfigError, loadConfig } from '#platform/config/config.ts'
import { jpeg } from '#testing/pictures.ts'
import { createWorld } from '#testing/world.ts'

test('PIC-15 text in the color of the operator is readable on every ground, whatever the color', () => {
  const papers = { light: ['#f8f6ef', '#fefdfa', '#f3f1e9'], dark: ['#10131a', '#181c23', '#0c0f15'] }
  const onPen = { light: '#fdfcf9', dark: '#0d1220' }
  for (const hex of [
    '#2841ae',
    '#ffff00',
    '#000000',
    '#ffffff',
    '#ff0000',
    '#00ff00',
    '#0000ff',
    '#777777',
    '#C0FFEE',
  ]) {
    const accent = accentOf(hex) ?? assert.fail(hex)
    assert.equal(accent.hex, hex.toLowerCase())
    for (const ground of ['light', 'dark'] as const) {
      const { pen, deep, tint } = accent[ground]
      const pairs = [...papers[ground], tint, onPen[ground]].flatMap(
        (other) =>
          [
            [pen, other],
            [deep, other],
          ] as const,
      )
      for (const [color, other] of pairs) assert.ok(contrast(color, other) >= 4.5, `${hex}: ${color} on ${other}`)
    }
  }
})

test('a wrong setting of the brand prevents the start, and the message names it', () => {
  for (const [name, value] of [
    ['BRAND_NAME', 'x'.repeat(41)],
    ['BRAND_NAME', 'Ex\u202eample'],
    ['BRAND_ACCENT', 'blue'],
    ['BRAND_LOGO', '/no/such/file.png'],
    ['TERMS_URL', 'javascript:alert(1)'],
    ['PRIVACY_URL', 'http://example.com/'],
    ['SUPPORT_URL', 'https://user:pass@example.com/'],
    ['STATUS_URL', 'mailto:help@example.com'],
  ] as const)
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error) => error instanceof ConfigError && error.message.startsWith(name),
    )
})

test('PIC-16 every page has the name, logo, color and links of the operator, and the name is text', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-brand-'))
  t.after(() => rm(folder, { recursive: true }))
  const logo = join(folder, 'logo.jpg')
  await writeFile(logo, jpeg)
  const environment = {
    BRAND_NAME: '</title><script>alert(1)',
    BRAND_LOGO: logo,
    BRAND_ACCENT: '#1a7f37',
    TERMS_URL: 'https://example.com/terms',
    SUPPORT_URL: 'mailto:help@example.com',
  }
  const world = await createWorld({ environment })
  try {
    const page = await world.auth.inject({ url: '/login' })
    assert.match(page.body, /<title>&lt;\/title>&lt;script>alert\(1\)<\/title>/)
    const [, view = ''] = /id="view">(.*?)<\/script>/s.exec(page.body) ?? []
    const { brand } = JSON.parse(view).site
    assert.deepEqual(brand.links, { terms: 'https://example.com/terms', support: 'mailto:help@example.com' })
    assert.equal(brand.accent, '#1a7f37')
    assert.match(String(page.headers['content-security-policy']), /img-src 'self' http:\/\/localhost:4400;/)
    const shown = await world.api.inject({ url: new URL(brand.logoUrl).pathname })
    assert.deepEqual([shown.statusCode, shown.headers['content-type']], [200, 'image/webp'])

    const [, style = ''] = /href="(\/assets\/brand-[\w-]{8}\.css)"/.exec(page.body) ?? []
    for (const host of [world.auth, world.business, world.api]) {
      const sheet = await host.inject({ url: style })
      assert.equal(sheet.headers['content-type'], 'text/css; charset=utf-8')
      assert.equal(sheet.headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.match(sheet.body, /--pen:light-dark\(#[\da-f]{6}, #[\da-f]{6}\)/)
    }
    for (const [host, url] of [
      [world.auth, '/help'],
      [world.api, '/docs'],
    ] as const) {
      const document = await host.inject({ url })
      assert.ok(document.body.includes(`href="${style}"`) && document.body.includes(`src="${brand.logoUrl}"`), url)
      assert.match(String(document.headers['content-security-policy']), /img-src 'self' http:\/\/localhost:4400;/)
    }
    const started = {
      method: 'POST',
      url: '/api/auth/register/start',
      payload: { handle: 'ada', displayName: 'A' },
    } as const
    assert.equal((await world.api.inject(started)).json().options.rp.name, environment.BRAND_NAME)
  } finally {
    await world.close()
  }
})

test('a logo that cannot be decoded prevents the start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-brand-'))
  t.after(() => rm(folder, { recursive: true }))
  const logo = join(folder, 'logo.svg')
  await writeFile(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await assert.rejects(createWorld({ environment: { BRAND_LOGO: logo } }), /BRAND_LOGO cannot be used\. .*PNG, JPEG/)
})
