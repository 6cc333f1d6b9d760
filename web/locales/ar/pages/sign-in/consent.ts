import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { consentMessages as english } from '../../../en/pages/sign-in/consent.ts'
import { handleOf } from '../../format.ts'

/** Holds the messages for signing in to an app: the choices, consent and delegation. In Arabic. */
export const consentMessages: typeof english = {
  signin: {
    documentTitle: (app) => `تسجيل الدخول إلى ${isolate(app)}`,
    to: 'تسجيل الدخول إلى',
    noSuchIdentity: 'طلب التطبيق هوية ليست لك. اختر إحدى هذه الهويات أو استخدم حسابًا آخر.',
    lastUsed: 'آخر استخدام',
    addIdentity: 'إضافة هوية',
    addIdentityLead: 'لا تستطيع التطبيقات معرفة أنها تخصك، إلا إذا سمحت لها.',
    addAndContinue: 'الإضافة والمتابعة',
    backTo: (app) => `الرجوع إلى ${isolate(app)}`,
    back: 'رجوع',
    chooseOrganization: 'استخدام هذا التطبيق باسم',
    passkeyFor: (organization) =>
      `سجّل الدخول مرة بمفتاح المرور لاستخدام هذا التطبيق لصالح ${isolate(organization)} أيضًا.`,
    noSuchOrganization: (handle) => `الهوية ${handleOf(handle)} ليست عضوًا في المؤسسة التي طلبها التطبيق.`,
    asMember: (handle) => `باسم ${handleOf(handle)}`,
    yourself: 'أنت شخصيًا',
    signInThereFirst: 'يتطلب SSO',
    forOrganization: (organization) => `باسم ${isolate(organization)}`,
    organization: 'المؤسسة',
    organizationValue: (organization) => `${isolate(organization)} وصلاحياتك فيها`,
    unseen: 'لا يستطيع رؤية هوياتك الأخرى ولا التطبيقات الأخرى التي تستخدمها.',
    confirmedEmail: 'مؤكَّد',
    sees: 'سيرى التطبيق',
    alsoSees: 'سيرى التطبيق أيضًا',
    already: 'يرى التطبيق بالفعل',
    callsItself: (name) => `يسمّي نفسه «${isolate(name)}»`,
    unverified: 'لم يتم التحقق من هذا التطبيق. لا تتابع إلا إذا كنت قد بدأت تسجيل الدخول للتو بنفسك.',
    onDevice: 'يريد تطبيق على هذا الجهاز تسجيل دخولك.',
    appOnDevice: 'تطبيق على هذا الجهاز',
    organizationAccess: {
      read: 'يرى مؤسساتك',
      create: 'يرى مؤسساتك ويمكنه إنشاء مؤسسات جديدة',
    },
    emailRequired: (app) => `يتطلب ${isolate(app)} عنوان بريد إلكتروني مؤكَّدًا. ليس لهذه الهوية عنوان.`,
    emailUnavailable: 'البريد الإلكتروني غير مُعَدّ في هذه الخدمة، فلا يمكنك تأكيد عنوان هنا. تواصل مع مشغّل الخدمة.',
    unlockWhy: (app) => `يشفّر ${isolate(app)} بياناتك. استخدم مفتاح المرور لفتح قفل مفتاحك.`,
    unlock: 'فتح القفل والمتابعة',
    codeWhy: 'لا يستطيع أي مفتاح مرور على هذا الجهاز فتح قفل مفاتيحك. أدخل رمز الاسترداد؛ سيبقى صالحًا.',
    place: {
      title: 'هل تريد إرسال مفتاحك إلى عنوان جديد؟',
      before: (app) => `كان ${isolate(app)} يستلم مفتاح التشفير هنا:`,
      now: (app) => `والآن يطلبه ${isolate(app)} هنا:`,
      warning: (app) =>
        `يفتح مفتاحك كل ما شفّرته في ${isolate(app)}. ` +
        `لا ترسله إلا إذا كنت تعرف أن ${isolate(app)} يستخدم هذا العنوان.`,
      confirm: (host) => `إرسال مفتاحي إلى ${isolate(host)}`,
      recipientTitle: 'هل تريد تغيير من يمكنه فتح مفتاحك؟',
      boundTo: (app) => `حتى الآن لا يستطيع فتح مفتاحك إلا خادم واحد تابع لتطبيق ${isolate(app)}. بصمة مفتاحه:`,
      binds: (app) => `من الآن فصاعدًا لن يفتح مفتاحك إلا خادم ${isolate(app)}، ويمكنه قراءة ما تشفّره. بصمة مفتاحه:`,
      unbinds: (app) => `يطلب تسجيل الدخول هذا مفتاحك دون ذلك الخادم. وعندها تحصل عليه صفحات ${isolate(app)}.`,
      recipientWarning: (app) => `لا تتابع إلا إذا كنت تعرف أن ${isolate(app)} يريد قراءة مفتاحك على خادمه.`,
      releaseWarning: (app) =>
        `يفتح مفتاحك كل ما شفّرته في ${isolate(app)}. ` +
        `لا تتابع إلا إذا كنت تعرف أن ${isolate(app)} لم يعد يستخدم هذا الخادم.`,
      confirmRecipient: 'التغيير',
      deny: 'عدم الإرسال',
    },
    stopped: {
      title: 'لم يُرسَل مفتاحك',
      why: (app, place) =>
        `كانت هذه الخدمة على وشك إرسال مفتاح التشفير الخاص بتطبيق ${isolate(app)} إلى ${isolate(place)}، ` +
        'لكن التطبيق طلبه على عنوان آخر. لم يُرسَل المفتاح.',
      whatNow: 'يُفترض ألا يحدث هذا أبدًا. أغلق هذه الصفحة وتواصل مع مطوّر التطبيق أو المشغّل.',
    },
    serverOpens: (app) => `يستلم خادم ${isolate(app)} مفتاح التشفير، ويمكنه قراءة ما تشفّره هناك.`,
    newKey:
      'يطلب التطبيق مفتاح تشفير جديدًا ويحصل على مفتاحك القديم مرة أخرى. لا تسمح بذلك إلا إذا طلبت من التطبيق مفتاحًا ' +
      'جديدًا. إلى أن يعيد التطبيق تشفير بياناتك، لا يفتحها إلا المفتاح القديم. ' +
      'يبقى المفتاح القديم 90 يومًا في ملف بياناتك الذي يمكنك تنزيله.',
    privacy: 'الخصوصية',
    terms: 'الشروط',
  },

  connect: {
    documentTitle: (source, target) => `${isolate(source)} لدى ${isolate(target)}`,
    headline: (app, target) => `يريد ${isolate(app)} التصرف نيابةً عنك لدى ${isolate(target)}`,
    limits: 'يحصل على وصول محدود خاص به. لا يحصل أبدًا على مفتاح المرور، ولا يستطيع التوقيع باسمك.',
    nothingElse: 'غير مسموح: أي شيء آخر باسمك',
    may: 'يمكن للتطبيق',
    mayAlso: 'يمكن للتطبيق الآن أيضًا',
    alreadyMay: 'يمكن للتطبيق بالفعل',
    whileAway: 'فعل ذلك أثناء عدم استخدامك للتطبيق',
    where: 'المكان',
    when: 'الوقت',
    modes: {
      user_present: 'أثناء استخدامك للتطبيق، حتى ساعة واحدة بعد تسجيل الدخول',
      background: 'في أي وقت، حتى عند عدم استخدامك للتطبيق',
    },
    until: 'ينتهي',
    untilValue: 'عند إلغائه من حسابك',
    withdrawn: {
      invalid_target: (target) => `لم يعد ${isolate(target)} يتيح ذلك`,
      invalid_scope: (target) => `غيّر ${isolate(target)} ما يمكن للتطبيقات طلبه`,
    },
    nothingGranted: 'لم يُمنح أي وصول. يمكن للتطبيق أن يطلب مرة أخرى.',
    back: (app) => `الرجوع إلى ${isolate(app)}`,
  },

  unfinished: {
    title: 'لم يكتمل تسجيل الدخول هذا',
    why: (host) => `${isolate(host)} ليس تطبيقًا تم التحقق منه، وطلبه غير صالح. لم تتم مشاركة أي شيء معه.`,
    silent: (host) =>
      `حاول ${isolate(host)}، وهو تطبيق لم يتم التحقق منه، تسجيل دخولك دون سؤالك. ` +
      'لم يكن ذلك ممكنًا. لم تتم مشاركة أي شيء معه.',
    back: (place) => `الرجوع إلى ${isolate(place)}`,
    forDevelopers: 'لمطوّر التطبيق',
  },
}
