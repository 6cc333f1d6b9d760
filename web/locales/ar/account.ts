import type { accountMessages as english } from '../en/account.ts'
import { isolate } from '@countersign/protocol/formats/registries/languages'
import { counted, handleOf, listOf, numberOf } from './format.ts'

/** Holds the messages of the account pages, except passkeys, devices and activity. In Arabic. */
export const accountMessages: typeof english = {
  scopeLabels: {
    'e2ee:symmetric': 'يشفّر بياناتك بمفتاحك',
    'e2ee:asymmetric': 'يشفّر بياناتك بزوج مفاتيحك',
    openid: 'يتعرّف عليك',
    profile: 'يرى اسمك واسم المستخدم',
    email: 'يرى بريدك الإلكتروني',
    offline_access: 'يبقى مرتبطًا عند عدم استخدامك له',
    user_id: 'يرى معرّف حسابك',
    groups: 'يرى مجموعاتك',
    roles: 'يرى أدوارك فيه',
  },

  account: {
    title: 'حسابك',
    sections: 'الأقسام',
    identities: 'الهويات',
    signing: 'التوقيع',
    passkeys: 'مفاتيح المرور',
    sessions: 'الجلسات',
    apps: 'التطبيقات',
    activity: 'النشاط',
    data: 'البيانات والحذف',
    signOut: 'تسجيل الخروج',
    retry: 'إعادة المحاولة',
  },

  identities: {
    title: 'هوياتك',
    lead: 'لا ترى التطبيقات إلا الهوية التي تختارها. ولا يعرف أن الأخرى لك إلا تطبيق يحصل على معرّف حسابك.',
    change: 'تعديل',
    email: 'البريد الإلكتروني',
    addEmail: 'إضافة بريد إلكتروني',
    changeEmail: 'تغيير البريد الإلكتروني',
    delete: 'حذف',
    choose: {
      change: (handle) => `تعديل ${handleOf(handle)}`,
      addEmail: (handle) => `إضافة بريد إلكتروني لهوية ${handleOf(handle)}`,
      changeEmail: (handle) => `تغيير البريد الإلكتروني لهوية ${handleOf(handle)}`,
      delete: (handle) => `حذف ${handleOf(handle)}`,
    },
    changeTitle: 'تعديل الهوية',
    handleKept: `إذا غيّرت اسم المستخدم، فسيبقى الاسم القديم محجوزًا لك ${numberOf(90)} يومًا.`,
    deleteTitle: (handle) => `هل تريد حذف ${handleOf(handle)}؟`,
    deleteWhat:
      'تفقد التطبيقات الوصول إلى هذه الهوية فورًا، وقد تفقد بياناتك لديها. لا يمكن التراجع عن ذلك. ' +
      `لا يمكن لأي شخص آخر أخذ اسم المستخدم لمدة ${numberOf(90)} يومًا.`,
    deleteNow: 'حذف الهوية',
    save: 'حفظ',
    add: 'إضافة هوية',
    addTitle: 'إضافة هوية',
    create: 'إضافة هوية',
    noEmail: 'لا يوجد بريد إلكتروني',
    tooMany: `بلغت الحد الأقصى، وهو ${numberOf(20)} هوية.`,
  },

  email: {
    title: (handle) => `البريد الإلكتروني لهوية ${handleOf(handle)}`,
    now: (email) => `العنوان الحالي: ${isolate(email)}`,
    address: 'عنوان البريد الإلكتروني',
    newAddress: 'العنوان الجديد',
    send: 'إرسال الرمز',
    invalid: `أدخل عنوان بريد إلكتروني كاملًا، مثل ${isolate('ada@example.com')}.`,
    sent: (email) => `أرسلنا رمزًا إلى ${isolate(email)}. تنتهي صلاحيته خلال عشر دقائق.`,
    code: 'الرمز',
    verify: 'تأكيد البريد الإلكتروني',
    otherAddress: 'استخدام عنوان آخر',
    domainRequired: 'يجب أن يحتفظ حسابك بآخر عنوان يمكنه التسجيل هنا.',
    remove: 'إزالة العنوان',
    notSetUp: 'البريد الإلكتروني غير مُعَدّ في هذه الخدمة، لذلك لا يمكنك إضافة عنوان.',
  },

  signing: {
    title: 'التوقيع',
    waiting: (count) =>
      count === 0
        ? 'لا توجد طلبات قيد الانتظار'
        : counted(count, {
            one: 'طلب واحد ينتظر توقيعك',
            two: 'طلبان ينتظران توقيعك',
            few: '# طلبات تنتظر توقيعك',
            many: '# طلبًا ينتظر توقيعك',
            other: '# طلب ينتظر توقيعك',
          }),
    as: (handle) => `باسم ${handleOf(handle)}`,
    asMember: (organization, handle) => `باسم ${isolate(organization)}، بصفتك ${handleOf(handle)}`,
    until: (time) => `تنتهي الصلاحية ${isolate(time)}`,
    read: 'القراءة والتوقيع',
    readOf: (app) => `قراءة طلب ${isolate(app)} وتوقيعه`,
    keysTitle: 'مفاتيح التوقيع',
    fingerprint: 'البصمة',
    none: 'لا يوجد مفتاح توقيع بعد. أنشئ مفتاحًا لتتمكن التطبيقات من طلب توقيعك.',
    madeOn: (date) => `تاريخ الإنشاء: ${isolate(date)}`,
    replacedOn: (date) => `نشط منذ ${isolate(date)}`,
    former: (count) =>
      counted(count, {
        one: 'مفتاح سابق واحد',
        two: 'مفتاحان سابقان',
        few: '# مفاتيح سابقة',
        many: '# مفتاحًا سابقًا',
        other: '# مفتاح سابق',
      }),
    between: (from, to) => `من ${isolate(from)} إلى ${isolate(to)}`,
    make: 'إنشاء مفتاح',
    makeOf: (handle) => `إنشاء مفتاح لهوية ${handleOf(handle)}`,
    makeTitle: (handle) => `إنشاء مفتاح توقيع لهوية ${handleOf(handle)}`,
    makeWhat: 'يُنشأ المفتاح في هذا المتصفح. لا يمكن فتح قفله إلا بمفاتيح المرور ورمز الاسترداد.',
    makeNow: 'إنشاء مفتاح',
    replace: 'استبدال المفتاح',
    replaceOf: (handle) => `استبدال مفتاح ${handleOf(handle)}`,
    replaceTitle: (handle) => `هل تريد استبدال مفتاح ${handleOf(handle)}؟`,
    replaceWhat:
      'يُستخدم المفتاح الجديد من الآن فصاعدًا. تبقى التوقيعات الموجودة صالحة. ' +
      'افعل ذلك إذا كان من المحتمل أن مفتاحك أصبح لدى شخص آخر.',
    replaceNow: 'استبدال المفتاح',
    expiring: (count) =>
      counted(count, {
        one: 'ستنتهي صلاحية طلب واحد قيد الانتظار.',
        two: 'ستنتهي صلاحية طلبين قيد الانتظار.',
        few: 'ستنتهي صلاحية # طلبات قيد الانتظار.',
        many: 'ستنتهي صلاحية # طلبًا قيد الانتظار.',
        other: 'ستنتهي صلاحية # طلب قيد الانتظار.',
      }),
    inForce: (handle) => `أصبح المفتاح الجديد لهوية ${handleOf(handle)} نشطًا.`,
    historyTitle: 'السجل',
    historyKept: `تُحذف الطلبات غير الموقّعة بعد ${numberOf(30)} يومًا.`,
    endedAt: {
      signed: (time) => `تم التوقيع: ${isolate(time)}`,
      denied: (time) => `تم الرفض: ${isolate(time)}`,
      expired: (time) => `انتهت الصلاحية، وقت الطلب: ${isolate(time)}`,
    },
    text: 'النص',
    textOf: (app) => `النص من ${isolate(app)}`,
    receipt: 'الإيصال',
    receiptOf: (app, time) => `إيصال ${isolate(app)}، ${isolate(time)}`,
    saveText: 'تنزيل النص',
  },

  apps: {
    title: 'التطبيقات المرتبطة',
    none: 'لا توجد تطبيقات مرتبطة بعد. تظهر هنا التطبيقات التي تسجّل الدخول إليها.',
    as: (handle) => `باسم ${handleOf(handle)}`,
    since: (date) => `منذ ${isolate(date)}`,
    disconnect: 'إلغاء الربط',
    key: 'مفتاح التشفير',
    placesTitle: (app) => `الوجهات التي يُرسَل إليها مفتاحك لتطبيق ${isolate(app)}`,
    placesWhat: 'هذه القائمة مشفّرة بمفتاحك، فلا تستطيع هذه الخدمة تغييرها. افتح قفل مفاتيحك لتراها.',
    showPlaces: 'فتح القفل والعرض',
    placesRedirects: 'يستلم التطبيق مفتاحك على هذه العناوين. وعلى أي عنوان آخر، ستُسأل أولًا.',
    placesRecipient: 'لا يستطيع فتحه إلا الخادم الذي له بصمة المفتاح هذه:',
    removePlace: 'إزالة',
    closePlaces: 'إغلاق',
    revokeTitle: (app) => `هل تريد إلغاء ربط ${isolate(app)}؟`,
    revokeWhat: (app, handle) =>
      `يفقد ${isolate(app)} الوصول إلى ${handleOf(handle)} فورًا، وعليه أن يطلب منك من جديد. ` +
      'البيانات التي لديه بالفعل، وحسابك هناك، تبقى لدى التطبيق.',
    keyLost:
      'يفقد التطبيق مفتاحك أيضًا. إذا ربطته من جديد، فسيحصل على مفتاح آخر لا يفك تشفير البيانات السابقة. ' +
      `وخلال ${numberOf(90)} يومًا يحتوي ملف بياناتك عند تنزيله على المفتاح القديم مشفّرًا.`,
    revoke: 'إلغاء الربط',
    endsToo: (pairs) => `يُلغى أيضًا: ${listOf(pairs)}.`,
  },

  delegations: {
    title: 'تطبيقات تتصرف نيابةً عنك',
    pair: (source, target) => `${isolate(source)} لدى ${isolate(target)}`,
    modes: {
      user_present: 'أثناء استخدامك له',
      background: 'أيضًا عند عدم استخدامك له',
    },
    unused: 'لم يُستخدم قط',
    notLately: (days) => `لم يُستخدم خلال آخر ${numberOf(days)} يومًا.`,
    lastUsed: (time) => `آخر استخدام: ${isolate(time)}`,
    times: (count) => counted(count, { one: 'مرة واحدة', two: 'مرتان', few: '# مرات', many: '# مرة', other: '# مرة' }),
    revoke: 'إلغاء الوصول',
    revokeOf: (pair) => `إلغاء الوصول: ${isolate(pair)}`,
    revokeTitle: (source, target) => `هل تريد إلغاء وصول ${isolate(source)} إلى ${isolate(target)}؟`,
    revokeWhat: (source, handle) =>
      `لن يستطيع ${isolate(source)} التصرف هناك باسم ${handleOf(handle)}، وعليه أن يطلب منك من جديد. ` +
      'قد يستمر الوصول الذي لديه بالفعل حتى عشر دقائق أخرى.',
    revokeNow: 'إلغاء الوصول',
    ended: (count) => `تم إلغاؤها: ${numberOf(count)}`,
    endedOn: (day) => `تم الإلغاء ${isolate(day)}`,
  },

  data: {
    title: 'البيانات والحذف',
    what: 'نزّل كل ما تخزّنه هذه الخدمة عنك، في ملف واحد.',
    download: 'تنزيل البيانات',
    fileName: 'countersign-account.json',
    deleteTitle: 'حذف الحساب',
    deleteWhat: 'يحذف كل هوياتك ومفاتيح المرور والمفاتيح، ويلغي ربط كل التطبيقات.',
    delete: 'حذف الحساب',
    confirmTitle: 'هل تريد حذف حسابك؟',
    confirmWhat: 'يُحذف حسابك فورًا. لا يمكن التراجع عن ذلك. نزّل بياناتك أولًا.',
    typeHandle: (handle) => `أدخل ${isolate(handle)} للتأكيد`,
    mismatch: 'هذا ليس اسم المستخدم الخاص بك.',
    deleteNow: 'حذف الحساب نهائيًا',
    appsGoToo: (apps) => `تُحذف تطبيقاتك أيضًا: ${listOf(apps)}. لن يتمكن أحد من تسجيل الدخول إليها.`,
    deleteWithApps: 'حذف الحساب والتطبيقات',
  },
}
