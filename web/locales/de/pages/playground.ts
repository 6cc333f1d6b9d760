import { plural } from '../../plural.ts'
import type { playgroundMessages as english } from '../../en/pages/playground.ts'

/** Holds the messages of the playground. In German. */
export const playgroundMessages: typeof english = {
  title: 'Playground',
  lead: [
    'Diese Demo-App kennt dich noch nicht.',
    'Sie schickt dich zur Anmeldung und erhält einen Authorization Code zurück.',
    'Den Code tauscht sie gegen Tokens und zeigt dir alles, was sie erhalten hat.',
  ],

  start: 'Mit Countersign anmelden',
  startHere: 'Mit Browser-Dialog anmelden (FedCM)',
  gotTitle: 'Was die App erhalten hat',
  refusedTitle: 'Die App erhielt einen Fehler',
  checks: 'Was die App geprüft hat',
  checkNames: {
    signature: 'Signatur, mit dem Schlüssel des Issuers geprüft',
    issuer: 'Issuer',
    audience: 'Audience: diese App',
    nonce: 'Nonce: gehört zu dieser Anfrage',
    lifetime: 'Nicht abgelaufen',
  },

  passed: 'Bestanden',
  failed: 'Fehlgeschlagen',
  noNonce: 'Nach einem Refresh keine, wie erwartet',
  response: 'Antwort des Token-Endpunkts',
  idToken: 'ID-Token',
  accessToken: 'Access-Token (JWT)',
  userinfo: 'UserInfo',
  header: 'Header',
  claims: 'Claims',
  refresh: 'Tokens erneuern',
  again: 'Von vorn beginnen',
  refreshed: (times) => plural('de', times, { one: 'Einmal erneuert', other: `${times}-mal erneuert` }),
  unasked: 'Diese Antwort gehört zu keiner Anfrage dieses Tabs. Beginne von vorn.',
  wrongState: 'Der State passt nicht zur Anfrage dieses Tabs. Die Antwort wurde verworfen.',
  wrongIssuer: 'Die Antwort stammt von einem anderen Issuer. Sie wurde verworfen.',
  declined: 'Dein Browser hat niemanden angemeldet. Aus Datenschutzgründen sagt er der App nicht, warum.',
}
