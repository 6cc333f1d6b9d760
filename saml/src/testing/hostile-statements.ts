import {
  assertion,
  attribute,
  audience,
  authentication,
  bearer,
  conditions,
  confirmation,
  connection,
  element,
  instant,
  issuer,
  nameId,
  requestId,
  response,
  sign,
  signedResponse,
  success,
  swap,
} from './document.ts'
import { refused, type Refused } from './refused.ts'

const subject = (name: string, confirmed = confirmation) => `<saml:Subject>${name}${confirmed}</saml:Subject>`
const confirmed = (part: string, other: string) =>
  signedResponse({ subject: subject(nameId, swap(confirmation, part, other)) })
const named = (attributed: string, text: string) =>
  signedResponse({ subject: subject(`<saml:NameID${attributed}>${text}</saml:NameID>`) })
const format = (name: string) => ` Format="urn:oasis:names:tc:SAML:${name}"`
const until = ` NotOnOrAfter="${instant(300)}"`
const other = 'https://other.example/saml'
const code = (name: string) => `<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${name}"/>`
const requester = swap(success, ':Success', ':Requester')

/** SML-10. It answers the request that this browser was sent with. */
const answers: Refused[] = [
  ['in_response_to', 'it answers another request', signedResponse({}, { inResponseTo: '_another' })],
  ['in_response_to', 'the assertion is for another request', confirmed(requestId, '_another')],
  ['in_response_to', 'the assertion is for no request', confirmed(` InResponseTo="${requestId}"`, '')],
  [
    'in_response_to',
    'it answers our request and another',
    signedResponse({}, { inResponseTo: `${requestId} _another` }),
  ],
]

/** SML-11. By the clock, with 60 seconds for clocks that differ. */
const times: Refused[] = [
  [
    'expired',
    'the conditions ended 61 seconds ago',
    signedResponse({ conditions: swap(conditions, instant(300), instant(-61)) }),
  ],
  [
    'expired',
    'the conditions ended 60 seconds ago',
    signedResponse({ conditions: swap(conditions, instant(300), instant(-60)) }),
  ],
  [
    'not_yet_valid',
    'the conditions begin in 61 seconds',
    signedResponse({ conditions: swap(conditions, instant(-60), instant(61)) }),
  ],
  ['expired', 'the confirmation ended 61 seconds ago', confirmed(instant(300), instant(-61))],
  ['expired', 'the confirmation does not end', confirmed(until, '')],
  ['not_yet_valid', 'the confirmation begins in 61 seconds', confirmed(until, `${until} NotBefore="${instant(61)}"`)],
  ['form', 'the confirmation ends at no instant', confirmed(instant(300), 'never')],
  ['form', 'the confirmation ends in a local time', confirmed(instant(300), '2026-11-21T12:05:00')],
  ['form', 'no conditions', signedResponse({ conditions: '' })],
  ['form', 'conditions twice', signedResponse({ conditions: conditions + conditions })],
  [
    'form',
    'a condition that is not known',
    signedResponse({ conditions: swap(conditions, audience, `${audience}<saml:Condition/>`) }),
  ],
  [
    'session_expired',
    'the session ended 61 seconds ago',
    signedResponse({
      authentication: swap(authentication, ' SessionIndex', ` SessionNotOnOrAfter="${instant(-61)}" SessionIndex`),
    }),
  ],
  [
    'authn_instant',
    'the person will prove who they are in 61 seconds',
    signedResponse({ authentication: swap(authentication, instant(-10), instant(61)) }),
  ],
  [
    'issue_instant',
    'it will be issued in 61 seconds',
    sign(response(swap(assertion(), ` IssueInstant="${instant(-5)}"`, ` IssueInstant="${instant(61)}"`)), '_a1'),
  ],
]

/** SML-12. It is for us, and has come where it was sent. */
const addressees: Refused[] = [
  [
    'audience',
    'the audience is another service',
    signedResponse({ conditions: swap(conditions, connection.entityId, other) }),
  ],
  [
    'audience',
    'the audience begins as we do',
    signedResponse({ conditions: swap(conditions, connection.entityId, `${connection.entityId}.evil.example`) }),
  ],
  ['audience', 'no audience', signedResponse({ conditions: swap(conditions, audience, '') })],
  [
    'audience',
    'two restrictions, one without us',
    signedResponse({ conditions: swap(conditions, audience, audience + swap(audience, connection.entityId, other)) }),
  ],
  ['recipient', 'the recipient is another service', confirmed(connection.acsUrl, other)],
  ['recipient', 'no recipient', confirmed(` Recipient="${connection.acsUrl}"`, '')],
  ['destination', 'the destination is another service', signedResponse({}, { destination: other })],
  ['destination', 'no destination', signedResponse({}, { destination: '' })],
]

/** SML-14. It is of this provider. */
const issuers: Refused[] = [
  [
    'issuer',
    'the assertion is of another issuer',
    signedResponse({ issuer: swap(issuer, connection.identityProvider.entityId, other) }),
  ],
  [
    'issuer',
    'the response is of another issuer',
    signedResponse({}, { from: swap(issuer, connection.identityProvider.entityId, other) }),
  ],
  [
    'issuer',
    'the issuer has a space more',
    signedResponse({ issuer: swap(issuer, '</saml:Issuer>', ' </saml:Issuer>') }),
  ],
  [
    'issuer',
    'the issuer is no entity',
    signedResponse({ issuer: swap(issuer, '<saml:Issuer>', `<saml:Issuer${format('2.0:nameid-format:persistent')}>`) }),
  ],
]

/** SML-19. What the status says counts, whatever comes with it. */
const states: Refused[] = [
  [
    'status',
    'the provider says no, with an assertion that holds',
    sign(signedResponse({}, { status: swap(success, '2.0:status:Success', '2.0:status:') }), '_r1'),
  ],
  ['Requester', 'the request is at fault, with an assertion that holds', signedResponse({}, { status: requester })],
  [
    'AuthnFailed',
    'the person has not proved who they are, with an assertion that holds',
    signedResponse(
      {},
      {
        status: swap(requester, '/></samlp:Status>', `>${code('AuthnFailed')}</samlp:StatusCode></samlp:Status>`),
      },
    ),
  ],
  ['form', 'no status', signedResponse({}, { status: '' })],
  ['form', 'two states', signedResponse({}, { status: requester + success })],
]

/** SML-05. The name is all of its text, of a form that stays, and one. */
const names: Refused[] = [
  ['name_id_transient', 'a name for this one time', named(format('2.0:nameid-format:transient'), '_7f3c')],
  [
    'name_id_format',
    'a name of a form that is not known',
    named(format('1.1:nameid-format:X509SubjectName'), 'CN=Ann'),
  ],
  ['name_id_qualifier', 'a name for another service', named(` SPNameQualifier="${other}"`, 'ann-7f3c')],
  ['name_id_qualifier', 'a name of another provider', named(` NameQualifier="${other}"`, 'ann-7f3c')],
  ['name_id', 'a name with a space before it', named('', ' ann-7f3c')],
  ['name_id', 'a name with a line more', named('', 'ann-7f3c\nadmin')],
  ['name_id', 'a name that shows as another', named('', 'ann\u202Enimda')],
  ['subject', 'an empty name', named('', '')],
  ['subject', 'a name of 256 characters', named('', 'x'.repeat(256))],
  ['form', 'two names', signedResponse({ subject: subject(nameId + swap(nameId, 'ann-7f3c', 'eve-0001')) })],
  ['form', 'no name', signedResponse({ subject: subject('') })],
  ['form', 'no subject', signedResponse({ subject: '' })],
  ['form', 'an element in the name', named('', 'ann<saml:x/>-7f3c')],
]

/** SML-12. A bearer assertion with an authentication statement is required. */
const bearers: Refused[] = [
  [
    'subject_confirmation',
    'whoever holds a key may, and nobody else',
    confirmed(bearer, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'),
  ],
  ['subject_confirmation', 'nobody may', signedResponse({ subject: subject(nameId, '') })],
  [
    'form',
    'anybody may, for ever and everywhere',
    signedResponse({ subject: subject(nameId, `<saml:SubjectConfirmation Method="${bearer}"/>`) }),
  ],
  ['authn_statement', 'nobody has proved who they are', signedResponse({ authentication: '' })],
  [
    'form',
    'it says what else may be decided',
    signedResponse({ authentication: `${authentication}<saml:AuthzDecisionStatement/>` }),
  ],
  [
    'version',
    'an assertion of another version',
    sign(swap(response(assertion()), 'ID="_a1" Version="2.0"', 'ID="_a1" Version="1.1"'), '_a1'),
  ],
  [
    'version',
    'a response of another version',
    sign(swap(response(assertion()), 'ID="_r1" Version="2.0"', 'ID="_r1" Version="1.1"'), '_a1'),
  ],
]

/** SML-15. An unsolicited response is rejected. */
const unsolicited: Refused[] = [
  [
    'unsolicited',
    'the provider begins',
    sign(response(swap(assertion(), ` InResponseTo="${requestId}"`, ''), { inResponseTo: '' }), '_a1'),
  ],
  ['unsolicited', 'the response answers nothing, its assertion does', signedResponse({}, { inResponseTo: '' })],
]

/** SML-21. One attribute that is two. */
const attributed: Refused[] = [
  [
    'attribute_twice',
    'two addresses',
    signedResponse({
      attributes: element(
        'AttributeStatement',
        '',
        ['ann', 'eve'].map((name) => attribute('email', `${name}@acme.example`)).join(''),
      ),
    }),
  ],
  [
    'attribute_twice',
    'two addresses, in two statements',
    signedResponse({
      attributes: ['ann', 'eve']
        .map((name) => element('AttributeStatement', '', attribute('email', `${name}@acme.example`)))
        .join(''),
    }),
  ],
]

export const statements = [
  ...refused('SML-05', names),
  ...refused('SML-10', answers),
  ...refused('SML-11', times),
  ...refused('SML-12', [...addressees, ...bearers]),
  ...refused('SML-14', issuers),
  ...refused('SML-15', unsolicited),
  ...refused('SML-19', states),
  ...refused('SML-21', attributed),
]
