<?xml version="1.0" encoding="utf-8" ?>
<ogr:FeatureCollection
     gml:id="aFeatureCollection"
     xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
     xsi:schemaLocation="http://ogr.maptools.org/ towns.xsd"
     xmlns:ogr="http://ogr.maptools.org/"
     xmlns:gml="http://www.opengis.net/gml/3.2">
  <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>47.25 6.75</gml:lowerCorner><gml:upperCorner>51.75 19.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
                                                                                                                                                                
  <ogr:featureMember>
    <ogr:towns gml:id="towns.0">
      <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>47.25 8.5</gml:lowerCorner><gml:upperCorner>47.25 8.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
      <ogr:geometryProperty><gml:Point srsName="urn:ogc:def:crs:EPSG::4326" gml:id="towns.geom.0"><gml:pos>47.25 8.5</gml:pos></gml:Point></ogr:geometryProperty>
      <ogr:id>1</ogr:id>
      <ogr:town>Zürich</ogr:town>
      <ogr:height>1.75</ogr:height>
      <ogr:day>2020-02-29</ogr:day>
      <ogr:ok>true</ogr:ok>
      <ogr:at>2021-03-04T05:06:07</ogr:at>
    </ogr:towns>
  </ogr:featureMember>
  <ogr:featureMember>
    <ogr:towns gml:id="towns.1">
      <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>51.0 6.75</gml:lowerCorner><gml:upperCorner>51.0 6.75</gml:upperCorner></gml:Envelope></gml:boundedBy>
      <ogr:geometryProperty><gml:Point srsName="urn:ogc:def:crs:EPSG::4326" gml:id="towns.geom.1"><gml:pos>51.0 6.75</gml:pos></gml:Point></ogr:geometryProperty>
      <ogr:id>2</ogr:id>
      <ogr:town>Köln, West</ogr:town>
      <ogr:height xsi:nil="true"/>
      <ogr:day>1960-01-01</ogr:day>
      <ogr:ok>false</ogr:ok>
      <ogr:at>1970-01-01T00:00:00</ogr:at>
    </ogr:towns>
  </ogr:featureMember>
  <ogr:featureMember>
    <ogr:towns gml:id="towns.2">
      <ogr:id>3</ogr:id>
      <ogr:town xsi:nil="true"/>
      <ogr:height>-0.5</ogr:height>
      <ogr:day xsi:nil="true"/>
      <ogr:ok xsi:nil="true"/>
      <ogr:at xsi:nil="true"/>
    </ogr:towns>
  </ogr:featureMember>
  <ogr:featureMember>
    <ogr:towns gml:id="towns.3">
      <gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>51.75 19.5</gml:lowerCorner><gml:upperCorner>51.75 19.5</gml:upperCorner></gml:Envelope></gml:boundedBy>
      <ogr:geometryProperty><gml:Point srsName="urn:ogc:def:crs:EPSG::4326" gml:id="towns.geom.3"><gml:pos>51.75 19.5</gml:pos></gml:Point></ogr:geometryProperty>
      <ogr:id>4</ogr:id>
      <ogr:town>Łódź &quot;2&quot;</ogr:town>
      <ogr:height>100000.125</ogr:height>
      <ogr:day>2024-01-01</ogr:day>
      <ogr:ok>true</ogr:ok>
      <ogr:at>1999-12-31T23:59:59</ogr:at>
    </ogr:towns>
  </ogr:featureMember>
</ogr:FeatureCollection>
