import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = { to: string; handle: string; stop: string } & Pick<Config, 'authUrl' | 'brand'>

/** Builds the mail with a recovery link. The language of the user is unknown: the mail has all. */
export function recoveryLinkMail({ to, handle, stop, token, authUrl, brand }: About & { token: string }): Mail {
  const { host, origin } = authUrl
  const url = `${origin}/recover/link#${token}`
  const stopUrl = `${origin}/recover/stop#${stop}`
  return mailInAllLanguages(to, {
    en: {
      subject: `Recover your ${brand.name} account`,
      text:
        `An operator of ${host} sent you this link to recover @${handle}. It works once, within one hour: ${url}\n\n` +
        `Don’t share this link. If you didn’t ask for it, stop the recovery: ${stopUrl}`,
    },
    de: {
      subject: `Stelle dein Konto bei ${brand.name} wieder her`,
      text:
        `Der Betreiber von ${host} hat dir diesen Link gesendet, um @${handle} wiederherzustellen. ` +
        `Er gilt einmal und eine Stunde lang: ${url}\n\n` +
        `Gib den Link nicht weiter. Wenn du nicht darum gebeten hast, stoppe die Wiederherstellung: ${stopUrl}`,
    },
    ar: {
      subject: `استرداد حسابك في ${isolate(brand.name)}`,
      text:
        `أرسل إليك مشغّل ${isolate(host)} هذا الرابط لاسترداد ${isolate(`@${handle}`)}. ` +
        `يعمل مرة واحدة خلال ساعة:\n${url}\n\n` +
        `لا تشارك هذا الرابط. إذا لم تطلبه، فأوقف الاسترداد:\n${stopUrl}`,
    },
  })
}

/** Builds the notice to another address of the user. It does not name the identity that is recovered. */
export function recoveryNoticeMail({ to, handle, stop, authUrl: { host, origin }, brand }: About): Mail {
  const stopUrl = `${origin}/recover/stop#${stop}`
  return mailInAllLanguages(to, {
    en: {
      subject: `Someone is recovering your ${brand.name} account`,
      text:
        `An operator of ${host} sent a link to recover the account of @${handle}.\n\n` +
        `If you didn’t ask for it, stop the recovery: ${stopUrl}`,
    },
    de: {
      subject: `Dein Konto bei ${brand.name} wird wiederhergestellt`,
      text:
        `Der Betreiber von ${host} hat einen Link gesendet, um das Konto von @${handle} wiederherzustellen.\n\n` +
        `Wenn du nicht darum gebeten hast, stoppe die Wiederherstellung: ${stopUrl}`,
    },
    ar: {
      subject: `يجري استرداد حسابك في ${isolate(brand.name)}`,
      text:
        `أرسل مشغّل ${isolate(host)} رابطًا لاسترداد حساب ${isolate(`@${handle}`)}.\n\n` +
        `إذا لم تطلب ذلك، فأوقف الاسترداد:\n${stopUrl}`,
    },
  })
}

/** Builds the notice that a recovery is completed. It does not name the identity that was recovered. */
export function recoveredMail({ to, handle, authUrl: { host, origin }, brand }: Omit<About, 'stop'>): Mail {
  const url = `${origin}/account`
  return mailInAllLanguages(to, {
    en: {
      subject: `Your ${brand.name} account was recovered`,
      text:
        `The account of @${handle} at ${host} was recovered by a link of the operator. ` +
        `All sessions were signed out.\n\n` +
        `If you didn’t do this, sign in with one of your passkeys within seven days and undo the recovery: ${url}`,
    },
    de: {
      subject: `Dein Konto bei ${brand.name} wurde wiederhergestellt`,
      text:
        `Das Konto von @${handle} auf ${host} wurde mit einem Link des Betreibers wiederhergestellt. ` +
        `Alle Sitzungen wurden beendet.\n\n` +
        `Wenn du das nicht warst, melde dich innerhalb von sieben Tagen mit einem deiner Passkeys an und mache die ` +
        `Wiederherstellung rückgängig: ${url}`,
    },
    ar: {
      subject: `تم استرداد حسابك في ${isolate(brand.name)}`,
      text:
        `تم استرداد حساب ${isolate(`@${handle}`)} على ${isolate(host)} برابط من مشغّل الخدمة. ` +
        `أُنهيت كل الجلسات.\n\n` +
        `إذا لم تكن أنت، فسجّل الدخول بأحد مفاتيح المرور لديك خلال سبعة أيام وتراجع عن الاسترداد:\n${url}`,
    },
  })
}

/** Builds the notice that new keys have replaced those that the user has lost. */
export function keysResetMail({ to, handle, authUrl: { host, origin }, brand }: Omit<About, 'stop'>): Mail {
  const url = `${origin}/account`
  return mailInAllLanguages(to, {
    en: {
      subject: `Your ${brand.name} keys were reset`,
      text:
        `The account of @${handle} at ${host} has new keys since its recovery. Signatures from now on are by a new ` +
        `signing key, and apps get new keys. The old keys are in the download of your account for 90 days, encrypted ` +
        `under your old recovery code and passkeys.\n\n` +
        `If you didn’t do this, contact the operator, and look at the activity of your account: ${url}`,
    },
    de: {
      subject: `Deine Schlüssel bei ${brand.name} wurden zurückgesetzt`,
      text:
        `Das Konto von @${handle} auf ${host} hat seit seiner Wiederherstellung neue Schlüssel. Ab jetzt ` +
        `unterschreibst du mit einem neuen Signaturschlüssel, und Apps bekommen neue Schlüssel. ` +
        `Die alten bleiben 90 Tage im Download deines Kontos, ` +
        `verschlüsselt unter deinem alten Wiederherstellungscode und deinen alten Passkeys.\n\n` +
        `Wenn du das nicht warst, wende dich an den Betreiber, und sieh dir die Aktivität deines Kontos an: ${url}`,
    },
    ar: {
      subject: `أُعيد تعيين مفاتيحك في ${isolate(brand.name)}`,
      text:
        `لحساب ${isolate(`@${handle}`)} على ${isolate(host)} مفاتيح جديدة منذ استرداده. ` +
        `التواقيع من الآن بمفتاح توقيع جديد، وتحصل التطبيقات على مفاتيح جديدة. ` +
        `تبقى المفاتيح القديمة 90 يومًا في ملف تنزيل حسابك، مشفّرة برمز الاسترداد القديم ومفاتيح المرور القديمة.\n\n` +
        `إذا لم تكن أنت، فتواصل مع مشغّل الخدمة وراجع نشاط حسابك:\n${url}`,
    },
  })
}
