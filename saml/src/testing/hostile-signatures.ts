import { createHmac } from 'node:crypto'
import { assertion, provider, response, sign, signedResponse, stranger, swap } from './document.ts'
import { refused, type Refused } from './refused.ts'
import { resigned } from './resigned.ts'

const good = signedResponse()
const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const envelopedTransform = `<ds:Transform Algorithm="${xmldsig}enveloped-signature"/>`
const exclusiveTransform = `<ds:Transform Algorithm="${exclusive}"/>`
const method = '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>'
const [reference = ''] = /<ds:Reference [^]*?<\/ds:Reference>/.exec(good) ?? []
const [signedInfo = ''] = /<ds:SignedInfo>[^]*?<\/ds:SignedInfo>/.exec(good) ?? []
const [digestValue = ''] = /<ds:DigestValue>[^<]*<\/ds:DigestValue>/.exec(good) ?? []
const [keyInfo = ''] = /<ds:KeyInfo>[^]*?<\/ds:KeyInfo>/.exec(good) ?? []

/** SML-04. Who signs is said by the connection, and by nothing in the document. */
const strangers: Refused[] = [
  ['signature', 'signed by a stranger, with their certificate', sign(response(assertion()), '_a1', { by: stranger })],
  [
    'signature',
    'signed by a stranger, with the certificate of the provider',
    sign(response(assertion()), '_a1', { by: stranger, shown: provider }),
  ],
  [
    'signature',
    'signed by a stranger, with no certificate',
    sign(response(assertion()), '_a1', { by: stranger, shown: null }),
  ],
  [
    'signature',
    'signed by a stranger, whose key is said to be elsewhere',
    swap(
      sign(response(assertion()), '_a1', { by: stranger, shown: null }),
      '</ds:Signature>',
      '<ds:KeyInfo><ds:RetrievalMethod URI="https://evil.example/key"/></ds:KeyInfo></ds:Signature>',
    ),
  ],
  [
    'signature',
    'the response is signed by a stranger, the assertion by the provider',
    sign(good, '_r1', { by: stranger }),
  ],
]

/** SML-06. A signature that two readers take for two. */
const ambiguous: Refused[] = [
  ['form', 'a comment in the digest', swap(good, '<ds:DigestValue>', '<ds:DigestValue><!--bm90IHRoaXM=-->')],
  ['form', 'an element in the digest', swap(good, '<ds:DigestValue>', '<ds:DigestValue><x/>')],
  ['signature_form', 'two digests', resigned(digestValue, digestValue + digestValue)],
  ['signature_form', 'two SignedInfo', swap(good, signedInfo, signedInfo + signedInfo)],
  [
    'signature_form',
    'a SignedInfo after the value',
    swap(good, '</ds:SignatureValue>', `</ds:SignatureValue>${signedInfo}`),
  ],
  [
    'signature_form',
    'two values',
    swap(good, '</ds:SignatureValue>', '</ds:SignatureValue><ds:SignatureValue>AA==</ds:SignatureValue>'),
  ],
  ['signature_form', 'two references', resigned(reference, reference + swap(reference, '#_a1', '#_r1'))],
  ['signature_form', 'no reference', resigned(reference, '')],
  ['signature_reference', 'a reference to the whole document', resigned('URI="#_a1"', 'URI=""')],
  ['signature_reference', 'a reference without an address', resigned(' URI="#_a1"', '')],
  ['signature_reference', 'a reference to the response', resigned('URI="#_a1"', 'URI="#_r1"')],
  ['signature_reference', 'a reference by XPointer', resigned('URI="#_a1"', 'URI="#xpointer(id(&apos;_a1&apos;))"')],
  ['signature_reference', 'a reference to elsewhere', resigned('URI="#_a1"', 'URI="https://evil.example/#_a1"')],
  ['id_twice', 'an id that is there twice', swap(good, ' Method="urn', ' ID="_a1" Method="urn')],
  [
    'id_twice',
    'an id that is there twice, in another spelling',
    swap(good, '<samlp:Status>', '<samlp:Status Id="_a1">'),
  ],
  [
    'id_twice',
    'an id that is there twice, in another namespace',
    swap(good, '<samlp:Status>', '<samlp:Status xmlns:x="urn:x" x:id="_a1">'),
  ],
]

function byMac(algorithm: 'sha1' | 'sha256', name: string): string {
  const changed = swap(good, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', name)
  const value = createHmac(algorithm, provider.certificate).update(signedInfo).digest('base64')
  return changed.replace(/(<ds:SignatureValue>)[^<]*/, `$1${value}`)
}

const transform = (algorithm: string, content = '') =>
  `<ds:Transform Algorithm="${algorithm}">${content}</ds:Transform>`
const stylesheet =
  '<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"><xsl:template match="/">' +
  '<xsl:value-of select="document(&apos;https://evil.example/&apos;)"/></xsl:template></xsl:stylesheet>'
const xpath = '<ds:XPath>not(ancestor-or-self::saml:Subject)</ds:XPath>'

/** SML-08. What may be computed to verify a signature is fixed. */
const algorithms: Refused[] = [
  [
    'signature_form',
    'three transforms, the third XSLT',
    resigned(
      exclusiveTransform,
      exclusiveTransform + transform('http://www.w3.org/TR/1999/REC-xslt-19991116', stylesheet),
    ),
  ],
  [
    'transform',
    'XSLT instead of a canonical form',
    resigned(exclusiveTransform, transform('http://www.w3.org/TR/1999/REC-xslt-19991116', stylesheet)),
  ],
  [
    'transform',
    'XPath that leaves the subject out',
    resigned(exclusiveTransform, transform('http://www.w3.org/TR/1999/REC-xpath-19991116', xpath)),
  ],
  [
    'transform',
    'an XPath filter',
    resigned(exclusiveTransform, transform('http://www.w3.org/2002/06/xmldsig-filter2', xpath)),
  ],
  ['transform', 'base64', resigned(exclusiveTransform, transform(`${xmldsig}base64`))],
  ['transform', 'the signature itself is not left out', resigned(envelopedTransform, exclusiveTransform)],
  ['signature_form', 'one transform', resigned(exclusiveTransform, '')],
  [
    'signature_form',
    'no transforms',
    resigned(`<ds:Transforms>${envelopedTransform}${exclusiveTransform}</ds:Transforms>`, ''),
  ],
  [
    'canonicalization',
    'the inclusive canonical form',
    sign(response(assertion()), '_a1', { canonicalization: 'inclusive' }),
  ],
  [
    'canonicalization',
    'a canonical form with comments',
    sign(response(assertion()), '_a1', { canonicalization: 'exclusiveWithComments' }),
  ],
  [
    'canonicalization',
    'a canonical form of another version',
    resigned(
      `<ds:CanonicalizationMethod Algorithm="${exclusive}"/>`,
      '<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2006/12/xml-c14n11"/>',
    ),
  ],
  ['signature_algorithm', 'RSA with SHA-1', sign(response(assertion()), '_a1', { method: 'rsa-sha1' })],
  ['digest_algorithm', 'a digest by SHA-1', sign(response(assertion()), '_a1', { digest: 'sha1' })],
  ['signature_algorithm', 'a MAC whose key is the certificate, SHA-1', byMac('sha1', `${xmldsig}hmac-sha1`)],
  [
    'signature_algorithm',
    'a MAC whose key is the certificate, SHA-256',
    byMac('sha256', 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256'),
  ],
  [
    'signature_form',
    'a length for the MAC',
    resigned(method, `${swap(method, '/>', '>')}<ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>`),
  ],
  ['signature_algorithm', 'no algorithm', resigned(method, '<ds:SignatureMethod/>')],
]

/** What the key named in the document could do. */
const keys: Refused[] = [
  ['signature_form', 'two keys', swap(good, keyInfo, keyInfo + keyInfo)],
  ['signature_form', 'a property beside the key', swap(good, keyInfo, `${keyInfo}<ds:SignatureProperties/>`)],
]

export const signatures = [
  ...refused('SML-04', [...strangers, ...keys]),
  ...refused('SML-06', ambiguous),
  ...refused('SML-08', algorithms),
]
