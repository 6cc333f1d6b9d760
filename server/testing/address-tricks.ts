/** Registered redirect URI that every trick imitates; the loopback ones imitate `http://127.0.0.1:4711/native`. */
export const registered = 'https://app.example/callback'

/** URLs that look like a registered one to a user or a parser, but differ from it. */
export const tricks = [
  ...new Set([...ofPath(), ...ofHost(), ...ofScheme(), ...ofAuthority(), ...ofLoopback(), ...ofInsertion()]),
]

function ofPath(): string[] {
  const ends = [
    '/',
    '//',
    '?',
    '?a=1',
    '#',
    '#x',
    '/..',
    '/.',
    '/../callback',
    '%20',
    ' ',
    '\t',
    '\n',
    '%00',
    ';a',
    '.',
  ]
  const paths = [
    'Callback',
    'CALLBACK',
    '%63allback',
    'x/../callback',
    './callback',
    '/callback',
    'callback%2f',
    'call',
  ]
  const escaped = ['%2e%2e/callback', '..%2fcallback', 'callback%0d%0aLocation:%20https://evil.example', 'callbаck', '']
  const slashes = ['\\callback', 'callback\\', '%5ccallback', 'callback%5c..%5c', 'callback%23', 'callback%3f']
  return [
    ...ends.map((end) => registered + end),
    ...[...paths, ...escaped, ...slashes].map((path) => `https://app.example/${path}`),
    ...[` ${registered}`, `\t${registered}`, `\u00a0${registered}`, `${registered}\u200b`, `\ufeff${registered}`],
  ]
}

function ofHost(): string[] {
  const hosts = ['app.example.', 'APP.example', 'app.Example', 'app.example:443', 'app.example:8443', 'app.example:0']
  const others = [
    'evil.example',
    'app.example.evil.example',
    'evilapp.example',
    'app-example',
    'sub.app.example',
    'example',
  ]
  const twins = [
    'app.exаmple',
    'ａpp.example',
    'app。example',
    'app.exam%70le',
    'xn--app-example',
    'app.example%2eevil',
  ]
  const odd = [
    '[app.example]',
    'app.example%00.evil.example',
    'app.example%09',
    'app..example',
    '.app.example',
    '*.example',
  ]
  return [...hosts, ...others, ...twins, ...odd].map((host) => `https://${host}/callback`)
}

function ofScheme(): string[] {
  const schemes = [
    'http:',
    'HTTPS:',
    'ftp:',
    'javascript:',
    'data:text/html,',
    'file:',
    'blob:https:',
    'view-source:https:',
  ]
  const bare = [
    '//app.example/callback',
    '/callback',
    'callback',
    'app.example/callback',
    '///app.example/callback',
    '',
  ]
  const broken = ['https:app.example/callback', 'https:/app.example/callback', 'https:///app.example/callback']
  const slashed = ['https:\\\\app.example\\callback', 'https:/\\app.example/callback', 'https://app.example\\callback']
  const scripts = [
    'javascript:alert(1)',
    'javascript://app.example/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
  ]
  const spaced = ['java\nscript:alert(1)', ' javascript:alert(1)', 'vbscript:x', 'about:blank', 'null', 'undefined']
  const prefixed = schemes.map((scheme) => `${scheme}//app.example/callback`)
  return [...prefixed, ...bare, ...broken, ...slashed, ...scripts, ...spaced]
}

function ofAuthority(): string[] {
  const before = [
    'evil.example',
    'evil',
    'a:b',
    'https:',
    'app.example',
    '%40',
    '@',
    'evil.example%2f',
    'evil.example\\',
  ]
  const after = ['evil.example', 'evil.example:443', '[::1]', '127.0.0.1', 'evil.example#', 'evil.example?']
  return [
    ...before.map((name) => `https://${name}@app.example/callback`),
    ...after.map((name) => `https://app.example@${name}/callback`),
    ...after.map((name) => `https://${name}#@app.example/callback`),
    ...after.map((name) => `https://${name}\\@app.example/callback`),
    ...after.map((name) => `https://${name}/https://app.example/callback`),
    ...after.map((name) => `${registered}@${name}`),
    'https://a@b@app.example/callback',
    `https://${'@'.repeat(50)}app.example/callback`,
  ]
}

function ofLoopback(): string[] {
  const places = ['127.0.0.1', '127.0.0.1:4712', '127.0.0.1:04711', 'localhost:4711', '[::1]:4711', '127.1:4711']
  const written = ['2130706433:4711', '0x7f.1:4711', '0177.0.0.1:4711', '127.0.0.2:4711', '127.0.0.1.evil.example:4711']
  const named = ['localhost.evil.example:4711', 'evil.example:4711', '[::ffff:127.0.0.1]:4711', '0.0.0.0:4711']
  return [
    ...[...places, ...written, ...named].map((place) => `http://${place}/native`),
    ...['', '/', '/native/', '/Native', '/native?x', '/other'].map((path) => `http://127.0.0.1:4711${path}`),
    'https://127.0.0.1:4711/native',
  ]
}

/** Inserts an extra character at each position. */
function ofInsertion(): string[] {
  const characters = ['\\', '/', '@', '%', '?', '#', ':', '\t', '\u200b', '\u202e', '\r\n']
  const places = [
    'https:'.length,
    'https://'.length,
    'https://app'.length,
    'https://app.example'.length,
    registered.length,
  ]
  return characters.flatMap((character) =>
    places.map((place) => registered.slice(0, place) + character + registered.slice(place)),
  )
}
