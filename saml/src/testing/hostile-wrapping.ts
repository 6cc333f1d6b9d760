import { assertion, confirmation, nameId, response, sign, signedResponse, success, swap } from './document.ts'
import { refused, type Refused } from './refused.ts'

const eve = swap(nameId, 'ann-7f3c', 'eve-0001')
const evil = (id = '_evil', more: { advice?: string } = {}) =>
  assertion({ id, subject: `<saml:Subject>${eve}${confirmation}</saml:Subject>`, ...more })

const part = (document: string, pattern: RegExp) => pattern.exec(document)?.[0] ?? ''
const assertionIn = (document: string) => part(document, /<saml:Assertion[^]*<\/saml:Assertion>/)
const signatureIn = (document: string) => part(document, /<ds:Signature [^]*?<\/ds:Signature>/)
const object = (content: string) => `<ds:Object>${content}</ds:Object></ds:Signature>`

const good = signedResponse()
const signed = assertionIn(good)
const signature = signatureIn(good)
const unsigned = swap(signed, signature, '')
/** The response is signed, and what is in it is what was signed. */
const whole = sign(response(assertion()), '_r1')
const wholeSignature = signatureIn(whole)
const original = swap(whole, wholeSignature, '')
/** A response of another user, with a place for the signature of the original. */
const forged = (inside: string, id = '_evil') =>
  response(evil('_evil2'), { id }).replace('<samlp:Status>', `${inside}<samlp:Status>`)

/** SML-01. The eight of "On Breaking SAML" (2012) in the order in which they are numbered since, and some more. */
const wrappings: Refused[] = [
  [
    'signature_form',
    'XSW1: the signed response stands in the signature of a forged one',
    forged(swap(wholeSignature, '</ds:Signature>', object(original))),
  ],
  ['form', 'XSW2: the signed response stands in a forged one, before its signature', forged(original + wholeSignature)],
  ['assertions', 'XSW3: a forged assertion before the signed one', swap(good, signed, evil() + signed)],
  [
    'signature_missing',
    'XSW4: the signed assertion is an advice of a forged one',
    swap(good, signed, evil('_evil', { advice: `<saml:Advice>${signed}</saml:Advice>` })),
  ],
  [
    'signature_missing',
    'XSW4: the signed assertion is a child of a forged one',
    swap(good, signed, swap(evil(), '</saml:Assertion>', `${signed}</saml:Assertion>`)),
  ],
  [
    'id_twice',
    'XSW5: the signed assertion is changed, with its original at the end',
    swap(swap(good, 'ann-7f3c', 'eve-0001'), '</samlp:Response>', `${unsigned}</samlp:Response>`),
  ],
  [
    'assertions',
    'XSW5: the same, with an id of its own',
    swap(
      swap(swap(good, 'ann-7f3c', 'eve-0001'), ' ID="_a1"', ' ID="_evil"'),
      '</samlp:Response>',
      `${unsigned}</samlp:Response>`,
    ),
  ],
  [
    'id_twice',
    'XSW6: the signed assertion is changed, with its original in its signature',
    swap(swap(good, 'ann-7f3c', 'eve-0001'), '</ds:Signature>', object(unsigned)),
  ],
  [
    'signature_form',
    'XSW6: the same, with an id of its own',
    swap(swap(swap(good, 'ann-7f3c', 'eve-0001'), ' ID="_a1"', ' ID="_evil"'), '</ds:Signature>', object(unsigned)),
  ],
  [
    'form',
    'XSW7: a forged assertion among the extensions',
    swap(good, '<saml:Assertion ', `<samlp:Extensions>${evil()}</samlp:Extensions><saml:Assertion `),
  ],
  [
    'id_twice',
    'XSW7: the same, with the id of the signed one',
    swap(good, '<saml:Assertion ', `<samlp:Extensions>${evil('_a1')}</samlp:Extensions><saml:Assertion `),
  ],
  [
    'signature_form',
    'XSW8: the original in an object of the signature of a forged assertion',
    swap(
      good,
      signed,
      swap(evil(), '<saml:Subject>', `${swap(signature, '</ds:Signature>', object(unsigned))}<saml:Subject>`),
    ),
  ],
  [
    'signature_missing',
    'the signed assertion stands in the status, a forged one in its place',
    swap(
      response(evil()),
      success,
      swap(success, '</samlp:Status>', `<samlp:StatusDetail>${signed}</samlp:StatusDetail></samlp:Status>`),
    ),
  ],
  [
    'signature_missing',
    'the signed assertion is the value of an attribute of a forged one',
    swap(good, signed, swap(evil(), 'Ann Archer', signed)),
  ],
  [
    'signature_reference',
    'a forged assertion carries the signature, which refers to the original in its advice',
    swap(
      good,
      signed,
      swap(
        swap(evil('_evil', { advice: '<saml:Advice/>' }), '<saml:Subject>', `${signature}<saml:Subject>`),
        '<saml:Advice/>',
        `<saml:Advice>${unsigned}</saml:Advice>`,
      ),
    ),
  ],
  [
    'signature_twice',
    'a signed assertion in the advice of another that is signed too',
    sign(
      swap(
        response(assertion({ id: '_a2', advice: '<saml:Advice/>' })),
        '<saml:Advice/>',
        `<saml:Advice>${signed}</saml:Advice>`,
      ),
      '_a2',
    ),
  ],
  [
    'form',
    'the signature stands beside its assertion',
    swap(swap(good, signature, ''), '</samlp:Response>', `${signature}${signature}</samlp:Response>`),
  ],
]

/** SML-02. One assertion is all that may be there. */
const several: Refused[] = [
  ['assertions', 'two assertions, the first unsigned', swap(good, signed, evil() + signed)],
  ['assertions', 'two assertions, the second unsigned', swap(good, signed, signed + evil())],
  [
    'assertions',
    'two assertions, both signed',
    sign(sign(response(assertion() + assertion({ id: '_a2' })), '_a1'), '_a2'),
  ],
  ['assertions', 'no assertion', response('')],
]

/** SML-03. What isn't signed says nothing. */
const unsignedOnes: Refused[] = [
  ['signature_missing', 'nothing is signed', response(assertion())],
  ['signature_missing', 'the response is signed, the assertion is not', whole],
  ['signature', 'a signed response with another assertion in it', swap(whole, assertion(), evil())],
  [
    'signature',
    'a signed response with a signed assertion of another time',
    swap(sign(sign(response(assertion({ id: '_a2' })), '_a2'), '_r1'), 'ann-7f3c', 'eve-0001'),
  ],
  ['signature', 'the name was changed after signing', swap(good, 'ann-7f3c', 'eve-0001')],
  ['signature', 'the address was changed after signing', swap(good, 'ann@acme.example', 'eve@acme.example')],
  [
    'signature',
    'an attribute was added after signing',
    swap(good, ' SessionIndex', ' SessionNotOnOrAfter="2027-01-01T00:00:00Z" SessionIndex'),
  ],
  ['signature', 'the value of the signature is empty', good.replace(/(<ds:SignatureValue>)[^<]*/, '$1')],
  [
    'signature',
    'the value of the signature is of another answer',
    good.replace(/<ds:SignatureValue>[^<]*/, part(whole, /<ds:SignatureValue>[^<]*/)),
  ],
  [
    'signature',
    'the signature of the response does not hold, that of the assertion does',
    swap(sign(good, '_r1'), ' Version="2.0" IssueInstant', ' Consent="x" Version="2.0" IssueInstant'),
  ],
]

export const wrapping = [
  ...refused('SML-01', wrappings),
  ...refused('SML-02', several),
  ...refused('SML-03', unsignedOnes),
]
