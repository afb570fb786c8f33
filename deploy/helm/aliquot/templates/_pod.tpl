{{- define "aliquot.labels" -}}
app.kubernetes.io/name: aliquot
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The pod of a role: a dictionary with root, role, resources, and whether its data folder is a claim. */}}
{{- define "aliquot.pod" -}}
metadata:
  labels:
    {{- include "aliquot.labels" . | nindent 4 }}
  annotations:
    checksum/settings: {{ toYaml .root.Values.settings | sha256sum }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 45
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: aliquot
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [serve, --role, {{ .role }}]
      envFrom:
        - configMapRef: {name: {{ .root.Release.Name }}-settings}
        - secretRef: {name: {{ .root.Values.secret }}}
      ports:
        - {name: http, containerPort: 8080}
        - {name: metrics, containerPort: 9464}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        initialDelaySeconds: 30
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: data, mountPath: /var/lib/aliquot}
        - {name: temporary, mountPath: /tmp}
        - {name: keys, mountPath: /etc/aliquot/keys, readOnly: true}
  volumes:
    {{- if not .claim }}
    - {name: data, emptyDir: {}}
    {{- end }}
    - {name: temporary, emptyDir: {}}
    - {name: keys, secret: {secretName: {{ .root.Values.keys }}, defaultMode: 0440}}
{{- end }}
