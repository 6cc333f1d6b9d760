import type { playgroundEn } from './playground-en.ts'

/** The words of the playground alone. */
export const playgroundDe: typeof playgroundEn = {
  title: 'Spielwiese',
  lead: [
    'Diese Seite ist eine App wie jede andere: Sie weiß noch nichts von dir.',
    'Sie schickt dich zum Anmelden, wie jede App, und kommt mit einem Code zurück.',
    'Den Code tauscht sie gegen Tokens und zeigt dir alles, was sie bekam.',
  ],
  start: 'Mit Countersign anmelden',
  startHere: 'Anmelden, ohne wegzugehen',
  gotTitle: 'Was die App bekam',
  refusedTitle: 'Die App wurde abgewiesen',
  checks: 'Was die App geprüft hat',
  checkNames: {
    signature: 'Signatur, mit einem Schlüssel des Ausstellers',
    issuer: 'Aussteller',
    audience: 'Empfänger: diese App',
    nonce: 'Nonce: Antwort auf genau diese Anfrage',
    lifetime: 'Nicht abgelaufen',
  },
  passed: 'stimmt',
  failed: 'stimmt nicht',
  noNonce: 'nach einer Erneuerung keine, wie es sein soll',
  response: 'Antwort des Token-Endpunkts',
  idToken: 'ID-Token',
  accessToken: 'Access-Token, als JWT',
  userinfo: 'User-Info',
  header: 'Kopf',
  claims: 'Angaben',
  refresh: 'Erneuern',
  again: 'Noch einmal von vorn',
  refreshed: (times) => (times === 1 ? 'Einmal erneuert' : `${times}-mal erneuert`),
  unasked: 'Diese Antwort gehört zu keiner Anfrage dieses Tabs. Beginne von vorn.',
  wrongState: 'Das ist nicht der State, den dieser Tab geschickt hat: die Antwort eines anderen. Sie wurde verworfen.',
  wrongIssuer: 'Die Antwort nennt einen anderen Aussteller. Sie wurde verworfen.',
  declined: 'Dein Browser hat niemanden angemeldet. Warum, sagt er einer App nicht.',
}
