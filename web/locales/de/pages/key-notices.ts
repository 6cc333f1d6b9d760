import type { keyNoticesMessages as english } from '../../en/pages/key-notices.ts'

/** Holds what pages say when a check of the user's keys finds something. In German. */
export const keyNoticesMessages: typeof english = {
  stopped: 'Fahre nicht fort',
  nothingDone: 'Es wurde nichts unterschrieben und kein Schlüssel weitergegeben.',
  causes: {
    key: {
      title: 'Ein Schlüssel ist nicht deiner',
      what:
        'Der Dienst nennt für eine deiner Identitäten einen Signaturschlüssel, den dieser Browser mit deinen ' +
        'Schlüsseln nicht öffnen kann. Du hast ihn also nicht erstellt. Damit könnte jemand in deinem Namen ' +
        'unterschreiben.',
    },
    history: {
      title: 'Der Verlauf deines Schlüssels hat sich geändert',
      what:
        'Das öffentliche Schlüsselprotokoll zeigt über eine deiner Identitäten nicht mehr, was es früher gezeigt ' +
        'hat, oder zeigt einen zweiten Verlauf.',
    },
    log: {
      title: 'Das Schlüsselprotokoll ist ein anderes',
      what:
        'Der Dienst zeigt ein anderes öffentliches Protokoll als früher. So kann er dir einen Schlüssel zeigen und ' +
        'Apps einen anderen.',
    },
    promise: {
      title: 'Dein Schlüssel fehlt im Protokoll',
      what:
        'Du hast vor mehr als einem Tag einen Schlüssel erstellt. Das öffentliche Protokoll enthält ihn nicht, ' +
        'obwohl es das müsste.',
    },
    record: {
      title: 'Dein Prüfvermerk fehlt oder ist alt',
      what:
        'Dieser Browser prüft deine Schlüssel mit einem Vermerk, den nur du öffnen kannst. Der Dienst zeigt ' +
        'keinen, einen alten oder einen, der sich nicht öffnen lässt.',
    },
    change: {
      title: 'Jemand anders hat deinen Schlüssel geändert',
      what:
        'Wer deinen Schlüssel geändert hat, konnte deine Schlüssel entsperren: mit einem deiner Passkeys, ' +
        'deinem Wiederherstellungscode oder einem entsperrten Gerät.',
    },
    trail: {
      title: 'Das Audit-Log der Organisation hat sich geändert',
      what:
        'Der Dienst zeigt ein anderes Audit-Log dieser Organisation, als dieser Browser bisher ' +
        'gesehen hat: Etwas wurde nachträglich entfernt, eingefügt oder verändert.',
    },
    newer: {
      title: 'Diese Seite ist veraltet',
      what: 'Eine neuere Version dieser Seiten hat deine Schlüssel zuletzt geprüft. Lade die Seite neu.',
    },
    unreachable: {
      title: 'Deine Schlüssel lassen sich nicht prüfen',
      what:
        'Seit über einem Tag antwortet der Dienst nicht mit dem, was dieser Browser zur Prüfung deiner ' +
        'Schlüssel braucht. Bis dahin bleiben deine Schlüssel hier gesperrt.',
    },
  },
  doTitle: 'Was du tun kannst',
  steps: {
    stop: 'Unterschreibe vorerst nichts und öffne keine verschlüsselten Daten über diesen Dienst.',
    save: 'Speichere den Nachweis. Er bleibt auch in diesem Browser.',
    contact:
      'Wende dich auf einem Weg, den du kennst, an den Betreiber dieses Dienstes: telefonisch oder persönlich, nicht ' +
      'über einen Link aus einer Nachricht. Informiere am Arbeitsplatz auch euer Sicherheitsteam. Übergib ihnen die ' +
      'Datei.',
    secure:
      'Entferne auf einem anderen Gerät Passkeys, die du nicht kennst, und beende unbekannte Sitzungen. Ersetze dann ' +
      'den Wiederherstellungscode und deinen Signaturschlüssel.',
    reload: 'Lade diese Seite neu.',
    later: 'Versuche es später erneut. Wenn es so bleibt, wende dich an den Betreiber dieses Dienstes.',
  },
  download: 'Nachweis speichern',
  trailContents:
    'Die Datei enthält Einträge des Audit-Logs der Organisation, wie der Dienst sie gezeigt hat, und was sich dieser ' +
    'Browser gemerkt hatte. Sie enthält keine geheimen Schlüssel und keine Einzelheiten der Änderungen.',
  contents:
    'Die Datei enthält die ID deiner Identität und Antworten des Dienstes. Sie enthält keine geheimen Schlüssel ' +
    'und keine Texte. Prüfe sie mit dem Befehl countersign verify-evidence.',
  reload: 'Neu laden',
  code: 'Code',
  changes: {
    title: 'Deine Schlüssel haben sich geändert',
    lead: 'Seit du deine Schlüssel zuletzt in diesem Browser entsperrt hast:',
    replaced: (handle: string) => `Der Signaturschlüssel von @${handle} wurde ersetzt`,
    created: (handle: string) => `Für @${handle} wurde ein Signaturschlüssel erstellt`,
    removed: (handle: string) => `Die Identität @${handle} wurde gelöscht`,
    at: (moment: string) => `am ${moment}`,
    question: 'Warst du das?',
    yes: 'Ja, weiter',
    no: 'Nein, abbrechen',
  },
  unchecked:
    'Deine Schlüssel konnten nicht geprüft werden: Der Dienst hat nicht rechtzeitig geantwortet. Du kannst ' +
    'fortfahren. Bleibt es einen Tag lang so, bleiben deine Schlüssel in diesem Browser gesperrt.',
}
