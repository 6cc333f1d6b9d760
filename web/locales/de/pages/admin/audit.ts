import type { adminAuditMessages as english } from '../../../en/pages/admin/audit.ts'
import { plural } from '../../../plural.ts'

/** Holds the messages about the audit log, for operators. In German. */
export const adminAuditMessages: typeof english = {
  title: 'Audit-Log',
  lead: 'Alle Aktionen in diesem Dienst, die neuesten zuerst.',
  events: 'Ereignisse',
  none: 'Noch nichts aufgezeichnet',
  export: { open: 'Exportieren', formats: { csv: 'CSV', jsonl: 'JSON Lines' } },
  filter: {
    title: 'Filter',
    action: 'Aktion',
    identity: 'Benutzername oder ID',
    app: 'Client-ID',
    actor: 'Wer gehandelt hat',
    actors: {
      all: 'Egal wer',
      user: 'Eine Person',
      app: 'Eine App',
      operator: 'Betreiber oder Token',
      token: 'Ein Admin-Token',
      scim: 'Ein Verzeichnis',
      break_glass: 'ADMIN_TOKEN',
      system: 'Der Dienst',
    },
    result: 'Ergebnis',
    results: { all: 'Jedes Ergebnis', success: 'Erfolgreich', failure: 'Fehlgeschlagen' },
    period: 'Zeitraum',
    periods: { all: 'Gesamte Zeit', day: '24 Stunden', week: '7 Tage', month: '30 Tage' },
    apply: 'Filtern',
    clear: 'Filter aufheben',
  },
  nothingNew: 'Keine neuen Ereignisse',
  someNew: 'Neue Ereignisse',
  shown: (count) => plural('de', count, { one: '1 Ereignis', other: `${count} Ereignisse` }),
  showNew: (count, isMore) =>
    isMore
      ? `Mehr als ${count} neue anzeigen`
      : plural('de', count, { one: '1 neues anzeigen', other: `${count} neue anzeigen` }),
  noMatch: 'Kein Ereignis gefunden',
  noMatchWhat: 'Versuche andere Filter.',
  noneSoFar: 'Bisher nichts gefunden. Das Log geht noch weiter.',
  details: 'Einzelheiten',
  failed: 'Fehlgeschlagen',
  object: 'Objekt',
  request: 'Anfrage',
  app: 'App',
  identity: 'Identität',
  organization: 'Organisation',
  actors: { operator: 'Ein Betreiber', system: 'Der Dienst' },
  by: {
    user: (name) => (name === undefined ? 'Eine Person' : `Person ${name}`),
    app: (name) => (name === undefined ? 'Eine App' : `App ${name}`),
    operator: (name) => (name === undefined ? 'Ein früherer Betreiber' : `Betreiber ${name}`),
    token: (name) => (name === undefined ? 'Ein Admin-Token' : `Admin-Token ${name}`),
    scim: (name) => (name === undefined ? 'Ein SCIM-Token' : `SCIM-Token ${name}`),
  },
}
